import { inspect } from 'node:util';
import { ConfigError } from '../config/parse-config.ts';
import { describeSystemError } from '../fs/index.ts';
import { nameFlags } from './flag-names.ts';
import { stripControls } from './terminal.ts';

export const exitCodes = { failure: 1, usage: 2, interrupted: 130 } as const;

/** The user pressed Ctrl-C. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
}

/** An error as one line, and its exit code. PROXIMAL_DEBUG=1 shows the stack instead.
 *  @param keys config keys to name by their flags */
export function describeFailure(
  error: unknown,
  keys: readonly string[] = [],
): { text: string; exitCode: number } {
  if (error instanceof Interruption) return { text: '', exitCode: exitCodes.interrupted };
  const exitCode = error instanceof ConfigError ? exitCodes.usage : exitCodes.failure;
  if (process.env.PROXIMAL_DEBUG === '1') return { text: `${inspect(error)}\n`, exitCode };
  const sentence =
    describeSystemError(error) ??
    (error instanceof Error && error.message !== '' ? error.message : String(error));
  return {
    text: `${nameFlags(stripControls(sentence), keys).replace(/\s*\n\s*/g, ' ')}\n`,
    exitCode,
  };
}

/** Signals that stop a process cleanly: Ctrl-C, and the one that schedulers send. */
const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** Also the one of a closed terminal. */
const signals = [...stopSignals, 'SIGHUP'] as const;

/** Exits when the user presses Ctrl-C, except during `untilInterrupted`. */
export function exitOnInterrupt(): void {
  for (const signal of signals) process.on(signal, exit);
}

function exit(): void {
  // The terminal shows ^C in the current line.
  if (process.stderr.isTTY) process.stderr.write('\n');
  process.exit(exitCodes.interrupted);
}

/** Runs something that Ctrl-C stops through its signal. A second Ctrl-C exits immediately; SIGHUP never
 *  does, since both the shell and the system send it when a terminal is closed. */
export async function untilInterrupted<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = (received: NodeJS.Signals) => {
    controller.abort(new Interruption());
    if (received === 'SIGHUP') return;
    for (const signal of stopSignals) process.off(signal, abort).on(signal, exit);
  };
  for (const signal of signals) process.off(signal, exit).on(signal, abort);
  try {
    return await run(controller.signal);
  } finally {
    for (const signal of signals) process.off(signal, abort).off(signal, exit).on(signal, exit);
  }
}

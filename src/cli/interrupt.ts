import { exitCodes, Interruption } from './failure.ts';

/** What ends a process in order: Ctrl-C, and what schedulers send. */
const signals = ['SIGINT', 'SIGTERM'] as const;

/** Ends the process when the user presses Ctrl-C, unless `untilInterrupted` is under way. */
export function exitOnInterrupt(): void {
  for (const signal of signals) process.on(signal, exit);
}

function exit(): void {
  // The terminal shows ^C in the line that was being written.
  if (process.stderr.isTTY) process.stderr.write('\n');
  process.exit(exitCodes.interrupted);
}

/** Runs something that ends early when its signal says so; a second Ctrl-C does not wait for it. */
export async function untilInterrupted<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => {
    controller.abort(new Interruption());
    for (const signal of signals) process.off(signal, abort).on(signal, exit);
  };
  for (const signal of signals) process.off(signal, exit).on(signal, abort);
  try {
    return await run(controller.signal);
  } finally {
    for (const signal of signals) process.off(signal, abort).off(signal, exit).on(signal, exit);
  }
}

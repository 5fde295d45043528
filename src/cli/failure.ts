import { inspect } from 'node:util';
import { ConfigError } from '../config/parse-config.ts';
import { stripControls } from './strip-controls.ts';

export const exitCodes = { failure: 1, usage: 2, interrupted: 130 } as const;

/** The user pressed Ctrl-C. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
}

/** What to tell about an error, in one line, and the exit code; PROXIMAL_DEBUG=1 shows the stack. */
export function describeFailure(error: unknown): { text: string; exitCode: number } {
  if (error instanceof Interruption) return { text: '', exitCode: exitCodes.interrupted };
  const exitCode = error instanceof ConfigError ? exitCodes.usage : exitCodes.failure;
  if (process.env.PROXIMAL_DEBUG === '1') return { text: `${inspect(error)}\n`, exitCode };
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  return { text: `${stripControls(message).replace(/\s*\n\s*/g, ' ')}\n`, exitCode };
}

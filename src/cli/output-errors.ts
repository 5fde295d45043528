import type { WriteStream } from 'node:tty';
import { explainSystemError } from '../fs/index.ts';
import { describeFailure } from './exit.ts';

/** Handles failed writes of the standard streams, which would end the process with a stack otherwise. The
 *  output of most commands is their result, so they end with it: quietly if the reader stopped early, as
 *  `head` does, else with an error. Nothing on standard error is worth ending a command. */
export function handleOutputErrors(): void {
  process.stdout.on('error', end);
  process.stderr.on('error', ignore);
}

/** Lets the command continue without its output, for those whose result is elsewhere, such as in the
 *  folder of a run. An output that fails for another reason than its reader causes one warning. */
export function outliveOutput(): void {
  process.stdout.off('error', end).off('error', warn).on('error', warn);
}

function end(error: NodeJS.ErrnoException): void {
  if (isClosed(error)) process.exit();
  const { text, exitCode } = describe(error, 'run the command again');
  process.stderr.write(text);
  process.exit(exitCode);
}

function warn(error: NodeJS.ErrnoException): void {
  if (isClosed(error)) return;
  process.stdout.off('error', warn).on('error', ignore);
  const { text } = describe(error, 'later lines appear again; the command continues');
  process.stderr.write(`Warning: ${text}`);
}

function ignore(): void {}

function describe(error: NodeJS.ErrnoException, next: string): ReturnType<typeof describeFailure> {
  return describeFailure(explainSystemError(error, { action: 'write the output', next }));
}

/** Whether nobody reads the output any more: its pipe, connection or terminal was closed. */
function isClosed({ code }: NodeJS.ErrnoException): boolean {
  const { isTTY }: Partial<WriteStream> = process.stdout;
  return code === 'EPIPE' || code === 'ECONNRESET' || (code === 'EIO' && isTTY === true);
}

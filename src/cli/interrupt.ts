import { exitCodes, Interruption } from './failure.ts';

/** Ends the process when the user presses Ctrl-C, unless `untilInterrupted` is under way. */
export function exitOnInterrupt(): void {
  process.on('SIGINT', exit);
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
    process.on('SIGINT', exit);
  };
  process.off('SIGINT', exit);
  process.once('SIGINT', abort);
  try {
    return await run(controller.signal);
  } finally {
    process.off('SIGINT', abort);
    process.off('SIGINT', exit);
    process.on('SIGINT', exit);
  }
}

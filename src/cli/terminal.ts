import type { WriteStream } from 'node:tty';

/** What is written to: a terminal, a pipe or a file. */
export type Output = Pick<NodeJS.WritableStream, 'write'> &
  Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/** Grey text, where the terminal can show it and nobody asked for none (https://no-color.org). */
export function dim(text: string, output: Output): string {
  return canStyle(output) ? `\x1b[2m${text}\x1b[22m` : text;
}

export function bold(text: string, output: Output): string {
  return canStyle(output) ? `\x1b[1m${text}\x1b[22m` : text;
}

function canStyle(output: Output): boolean {
  return output.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
}

/** Says on a terminal what is being done; returns what takes it away again. */
export function showStatus(text: string, output: Output = process.stderr): () => void {
  if (output.isTTY !== true) return () => {};
  output.write(dim(`${text} …`, output));
  return () => output.write('\r\x1b[K');
}

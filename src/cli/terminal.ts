import type { WriteStream } from 'node:tty';

/** Where text is written: a terminal, a pipe or a file. */
export type Output = Pick<NodeJS.WritableStream, 'write'> &
  Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/** Longest line in columns: the terminal's width, or 80 in a pipe or a file. */
export function lineWidth({ columns }: Output): number {
  return columns || 80;
}

/** Grey text, if the terminal supports it and the user allows it (https://no-color.org). */
export function dim(text: string, output: Output): string {
  return canStyle(output) ? `\x1b[2m${text}\x1b[22m` : text;
}

export function bold(text: string, output: Output): string {
  return canStyle(output) ? `\x1b[1m${text}\x1b[22m` : text;
}

function canStyle(output: Output): boolean {
  return output.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
}

/** Control characters except tab and line feed, and characters that reverse the text direction. */
const controls = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Makes text from a model, a user or a file safe to print: nothing in it can move the cursor, change
 *  colours or the title, or hide other text.
 *  @example 'a\x1b[2Jb\r\n'  →  'a[2Jb\n' */
export function stripControls(text: string): string {
  return text.replace(controls, (control) => (control === '\t' || control === '\n' ? control : ''));
}

/** Shows a status on a terminal while something runs. Returns a function that removes it. */
export function showStatus(text: string, output: Output = process.stderr): () => void {
  if (output.isTTY !== true) return () => {};
  output.write(dim(`${text} …`, output));
  return () => output.write('\r\x1b[K');
}

/** A progress bar; empty if there is no room.
 *  @example ½, 10  →  '━━━━━─────' */
export function progressBar(fraction: number, width: number): string {
  const length = Math.max(0, width);
  const filled = Math.round(length * fraction);
  return '━'.repeat(filled) + '─'.repeat(length - filled);
}

/** Joins titled sections; an empty body leaves only the title. */
export function formatSections(
  sections: readonly (readonly [title: string, body: string])[],
  output: Output,
): string {
  return sections.map(([title, body]) => `${bold(title, output)}\n${body}`.trimEnd()).join('\n\n');
}

/** Text on one line, shortened to fit. */
export function oneLine(text: string, width = Infinity): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

export interface WrapOptions {
  /** Longest line, in characters. */
  readonly width: number;
  /** Spaces before all lines but the first; 0 by default. */
  readonly indent?: number;
}

/** Breaks text between words into lines that fit; a word that is too long has its own line.
 *  @example 'a  bc de', width 5, indent 2  →  'a  bc\n  de' */
export function wrapWords(text: string, { width, indent = 0 }: WrapOptions): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\S)(?= )/)) {
    if (line !== '' && line.length + word.length > width) {
      lines.push(line);
      line = ' '.repeat(indent) + word.trimStart();
    } else line += word;
  }
  return [...lines, line].join('\n');
}

/** An indented sentence, wrapped.
 *  @example 'a b', width 4  →  '  a\n  b' */
export function indentedText(text: string, width: number): string {
  return wrapWords(`  ${stripControls(text)}`, { width, indent: 2 });
}

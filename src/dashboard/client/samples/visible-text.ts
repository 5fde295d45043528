/** C0 but tab and newline, DEL and C1, and what changes the direction of text or has no width. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Text in which every character is seen: what controls a terminal or reorders a line has a sign.
 *  Tabs and newlines stay.
 *  @example 'a\u001b[1m'  →  'a␛[1m';  'a\u202eb'  →  'a⟨U+202E⟩b' */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => signOf(character.charCodeAt(0)));
}

/** The start of a text in one line; breaks become ↵ and tabs spaces.
 *  @example 'a\nb', 10  →  'a↵b';  'abcdef', 3  →  'abc…' */
export function oneLine(text: string, limit: number): string {
  const start = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return visibleText(start.replace(/\r?\n/g, '↵').replace(/\t/g, ' '));
}

function signOf(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** Control characters but tab and line feed, and those that turn the direction of writing around. */
const controls = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Text of a model, a user or a file as a terminal may be given it: nothing in it moves the cursor,
 *  changes a colour or a title, or hides what stands beside it.
 *  @example 'a\x1b[2Jb\r\n'  →  'a[2Jb\n' */
export function stripControls(text: string): string {
  return text.replace(controls, (control) => (control === '\t' || control === '\n' ? control : ''));
}

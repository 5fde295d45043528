/** Control characters except new lines and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** The result of a tool as text for the policy: text as it is, anything else as JSON, without control
 *  characters, and at most `maxLength` characters.
 *  @example { sum: 3 }, 100  →  '{"sum":3}' */
export function describeOutput(output: unknown, maxLength: number): string {
  const text = (typeof output === 'string' ? output : toJson(output)).replace(controls, '');
  if (text.length <= maxLength) return text;
  // A surrogate pair is never split.
  const end = /[\ud800-\udbff]/.test(text[maxLength - 1]!) ? maxLength - 1 : maxLength;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}

function toJson(output: unknown): string {
  try {
    return JSON.stringify(output) ?? 'null';
  } catch {
    // Cycles and big integers have no JSON.
    return String(output);
  }
}

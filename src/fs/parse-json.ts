/** Parses a JSON object; errors name the file that the text came from. */
export function parseJsonObject(text: string, file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new SyntaxError(`Cannot read ${file}: it must be JSON (${message})`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  const got = Array.isArray(value) ? 'an array' : JSON.stringify(value);
  throw new TypeError(`Cannot read ${file}: it must be an object, got ${got}`);
}

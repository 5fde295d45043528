/** Text from a file as it stands in an error message: escaped, and cut to 80 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** A shape or a pair of offsets as it stands in an error message, cut to 8 numbers. */
export function showList(numbers: readonly number[]): string {
  const more = numbers.length > 8 ? `, … ${numbers.length} in all` : '';
  return `[${numbers.slice(0, 8).join(', ')}${more}]`;
}

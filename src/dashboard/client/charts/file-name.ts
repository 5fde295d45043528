/** A name for a file that every system takes.
 *  @example ['My run', 'KL to the reference'], 'csv'  →  'my-run-kl-to-the-reference.csv' */
export function fileName(parts: readonly string[], extension: string): string {
  const words =
    parts
      .join(' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}_.]+/gu) ?? [];
  const name = words
    .join('-')
    .replace(/^[.-]+/, '')
    .slice(0, 100);
  return `${name === '' ? 'chart' : name}.${extension}`;
}

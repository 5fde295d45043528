/** The words of a text: letters, marks and digits of any script, with apostrophes and hyphens inside.
 *  A run without spaces, as in Chinese, is one word.
 *  @example "Don’t stop: it's well-known!"  →  ["Don't", 'stop', "it's", 'well-known'] */
export function splitWords(text: string): string[] {
  const words = text.match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
  return words.map((word) => word.replaceAll('’', "'"));
}

/** Every run of n words, in order; none in a text of fewer.
 *  @example ['a', 'b', 'c'], n=2  →  ['a b', 'b c'] */
export function ngrams(words: readonly string[], n: number): string[] {
  return Array.from({ length: Math.max(0, words.length - n + 1) }, (_, i) =>
    words.slice(i, i + n).join(' '),
  );
}

const vowels = /[aeiouy]+/g;

/** A final e, es or ed after a consonant; it sounds after a consonant and l (tables), es after a
 *  hissing sound (boxes), ed after t or d (wanted). */
const silentEnd = /[^aeiouy](?<![^aeiouy]l)(?:e|(?<![sxzcg]|[cs]h)es|(?<![td])ed)$/;

/** About how many syllables an English word has: its groups of vowels, less a silent end, and at
 *  least 1. Vowels of two syllables side by side (idea) are taken for one.
 *  @example the 1, table 2, makes 1, boxes 2, loved 1, wanted 2, proposal 3, café 2, 42 1 */
export function countSyllables(word: string): number {
  const lower = word.toLowerCase().normalize('NFC');
  const plain = lower.normalize('NFD').replace(/\p{M}/gu, '');
  const groups = plain.match(vowels)?.length ?? 0;
  return Math.max(1, groups - (silentEnd.test(lower) ? 1 : 0));
}

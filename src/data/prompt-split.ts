import { randomStream } from '../engine/random/index.ts';

/** Takes a part of the prompts for validation, both parts in their order.
 *
 *  Each text has a random number of its own, keyed by seed and text; those with the k smallest of
 *  the n different texts validate, k = round(fraction · n), but at least one text stays on each
 *  side. So equal texts stay together, and neither order nor other prompts change a text's number.
 *  @example fraction 0.1 of 25 different texts  →  3 to validate, 22 to train
 *  @example fraction 0.1 of 2  →  1 and 1; of 1  →  0 and 1 */
export function splitPrompts<T extends { readonly text: string }>(
  prompts: readonly T[],
  { fraction, seed }: { readonly fraction: number; readonly seed: number },
): { train: T[]; validation: T[] } {
  const texts = [...new Set(prompts.map(({ text }) => text))];
  const isSplit = fraction > 0 && texts.length > 1;
  const rounded = Math.round(fraction * texts.length);
  const k = isSplit ? Math.min(Math.max(rounded, 1), texts.length - 1) : 0;
  const chosen = new Set(
    texts
      .map((text) => ({ text, key: randomStream(seed, 'validation', text).next() }))
      .sort((a, b) => a.key - b.key)
      .slice(0, k)
      .map(({ text }) => text),
  );
  return {
    train: prompts.filter(({ text }) => !chosen.has(text)),
    validation: prompts.filter(({ text }) => chosen.has(text)),
  };
}

import { z } from 'zod';
import type { RewardSample } from '../reward-source.ts';
import { splitWords } from './split-words.ts';

export const lengthUnit = z
  .enum(['words', 'characters', 'tokens'])
  .default('words')
  .describe('What is counted; tokens include the stop token');

export type LengthUnit = z.output<typeof lengthUnit>;

/** How long a response is. Blank text has no words and no characters. */
export function measureLength({ response, tokens }: RewardSample, unit: LengthUnit): number {
  if (unit === 'tokens') return tokens.length;
  return unit === 'words' ? splitWords(response).length : Array.from(response.trim()).length;
}

/** How near a length n lies to the band from a to b: n/a below it, 1 inside, b/n above.
 *  @example a=4, b=8, n=[0, 3, 6, 16]  →  [0, ¾, 1, ½] */
export function scoreLength(n: number, { from: a, to: b }: { from: number; to: number }): number {
  if (n < a) return n / a;
  return n > b ? b / n : 1;
}

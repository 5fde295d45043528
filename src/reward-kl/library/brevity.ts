import { z } from 'zod';
import { lengthUnit, measureLength, scoreLength } from './length-band.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';

export const brevityOptions = z.strictObject({
  target: z.int().min(1).default(50).describe('Longest response that scores 1'),
  unit: lengthUnit,
});

export type BrevityOptions = z.input<typeof brevityOptions>;

/** Rewards short responses: min(1, target/n) for n words, 0 for none; in [0, 1].
 *  @example target=2: ''  →  0;  'one two'  →  1;  'one two three four'  →  ½ */
export function brevity(options: BrevityOptions = {}): LibraryReward {
  const { target, unit } = parseOptions(brevityOptions, options, { reward: 'brevity' });
  return function brevity(sample) {
    return scoreLength(measureLength(sample, unit), { from: 1, to: target });
  };
}

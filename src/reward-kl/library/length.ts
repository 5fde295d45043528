import { z } from 'zod';
import { lengthUnit, measureLength, scoreLength } from './length-band.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';

export const lengthOptions = z.strictObject({
  target: z.int().min(1).describe('Length that scores 1'),
  tolerance: z.int().min(0).default(0).describe('How far from the target a length still scores 1'),
  unit: lengthUnit,
});

export type LengthOptions = z.input<typeof lengthOptions>;

/** Rewards responses of about a length: with a = max(1, target − tolerance), b = target + tolerance,
 *  n/a for n < a, 1 from a to b, b/n above; in [0, 1].
 *  @example target=3, tolerance=1: 'one'  →  ½;  'one two three four'  →  1;  eight words  →  ½ */
export function length(options: LengthOptions): LibraryReward {
  const { target, tolerance, unit } = parseOptions(lengthOptions, options, { reward: 'length' });
  const band = { from: Math.max(1, target - tolerance), to: target + tolerance };
  return function length(sample) {
    return scoreLength(measureLength(sample, unit), band);
  };
}

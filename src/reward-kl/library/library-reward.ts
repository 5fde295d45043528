import type { z } from 'zod';
import { parseConfig } from '../../config/parse-config.ts';
import type { RewardSample } from '../reward-source.ts';

/** A reward of the library: one number for a response, at once. Its function's name is the source's. */
export type LibraryReward = (sample: RewardSample) => number;

/** A column of the data, or a function that gives what would stand there. */
export type FromSample<T> = string | ((sample: RewardSample) => T);

/** Checks the options of a reward and fills in the defaults. */
export function parseOptions<S extends z.ZodObject>(
  schema: S,
  options: unknown,
  { reward }: { readonly reward: string },
): z.output<S> {
  return parseConfig(schema, options, { name: `the reward ${reward}` });
}

import type { RewardSample } from 'proximal';
import * as world from '../../src/embedded/world/index.ts';

/** The gold score: the facts that a summary contains, and its length. Training never uses it. */
function gold({ response, finished, row }: RewardSample): number {
  const { facts } = row as Pick<world.Post, 'facts'>;
  return world.goldScore({ facts }, response, { finished }).score;
}

export default gold;

import type { RewardSample } from 'proximal';
import * as world from '../../src/embedded/world/index.ts';

/** The score of the world that posts come from: the facts that a summary tells, in how many words.
 *  Training never sees it. */
function gold({ response, finished, row }: RewardSample): number {
  const { facts } = row as Pick<world.Post, 'facts'>;
  return world.goldScore({ facts }, response, { finished }).score;
}

export default gold;

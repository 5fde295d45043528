import type { RandomStream } from '../engine/random/index.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';

/** A mask of 0 with probability p and 1/(1 − p) otherwise, whose mean is 1. */
export function dropoutMask(
  shape: readonly [number, number],
  { rate: p, random }: { rate: number; random: RandomStream },
): Tensor<'float32'> {
  const mask = new Float32Array(shape[0] * shape[1]);
  const kept = 1 / (1 - p);
  for (let i = 0; i < mask.length; i++) mask[i] = random.next() < p ? 0 : kept;
  return tensor(mask, shape);
}

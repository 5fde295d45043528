import { randomStream } from '../../engine/random/index.ts';
import { type Tensor, tensor } from '../../engine/runtime/index.ts';
import { BaseModel } from './base-model.ts';
import type { Architecture } from './families/index.ts';
import { weightShapes } from './weight-shapes.ts';

/** Standard deviation of fresh weights: Hugging Face's `initializer_range`. */
const INITIALIZER_RANGE = 0.02;

/** A model with fresh random weights: matrices N(0, 0.02²), norms 1, biases 0. */
export function createModel(architecture: Architecture, seed = 0): BaseModel {
  const weights = new Map<string, Tensor<'float32'>>();
  for (const [name, shape] of weightShapes(architecture)) {
    const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
    if (shape.length > 1) fillNormal(data, randomStream(seed, 'weights', name));
    else if (name.endsWith('.weight')) data.fill(1);
    weights.set(name, tensor(data, shape));
  }
  return new BaseModel(architecture, weights);
}

function fillNormal(data: Float32Array, random: { normal(): number }): void {
  for (let i = 0; i < data.length; i++) data[i] = INITIALIZER_RANGE * random.normal();
}

import type { ParameterGroup } from '../engine/optim/index.ts';
import type { Weights } from '../models/index.ts';

/** Matrices decay; norms, biases and heads do not. */
export function parameterGroups(
  weights: Weights,
  { learningRate, weightDecay }: { learningRate: number; weightDecay: number },
): ParameterGroup[] {
  const pick = (isMatrix: boolean) =>
    Object.fromEntries(
      [...weights]
        .filter(([, { shape }]) => shape.length > 1 === isMatrix)
        .map(([name, { data }]) => [name, data]),
    );
  return [
    { parameters: pick(true), learningRate, weightDecay },
    { parameters: pick(false), learningRate },
  ];
}

import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { runTokenHead } from '../models/decoder/token-head.ts';
import type { BaseModel } from '../models/index.ts';

/** Numbers of some tokens, and how each moves with its own hidden state. */
export interface PolicyRows {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  /** ∂L/∂x [M, hidden] from ∂L/∂logprob and, where they were asked for, ∂L/∂entropy of each row. */
  pullBack(dLogprobs: Float32Array, dEntropies?: Float32Array): Tensor<'float32'>;
}

export interface PolicyHeadOptions {
  readonly temperature: number;
  /** Also makes the gradients of the entropies. */
  readonly withEntropy: boolean;
}

/**
 * The output head of the policy in training, run once. Rows do not depend on each other, so
 * ∂L/∂x_m = ∂L/∂logprob_m · ∂logprob_m/∂x_m: the factors on the right come with the forward pass,
 * and any loss of the logprobs can be computed afterwards on the host.
 */
export async function runPolicyHead(
  base: BaseModel,
  rows: { hidden: Tensor<'float32'>; tokens: Int32Array },
  { temperature, withEntropy }: PolicyHeadOptions,
): Promise<PolicyRows> {
  const gradients = withEntropy ? 'logprob and entropy' : 'logprob';
  const found = await runTokenHead(base, rows, { temperature, gradients });
  const { logprobs, entropies, byLogprob, byEntropy } = found;
  return {
    logprobs,
    entropies,
    pullBack: (dLogprobs, dEntropies) => {
      scaleRows(byLogprob, dLogprobs);
      if (dEntropies !== undefined) addScaledRows(byLogprob, byEntropy, dEntropies);
      return tensor(byLogprob, rows.hidden.shape);
    },
  };
}

function scaleRows(matrix: Float32Array, factors: Float32Array): void {
  const width = matrix.length / factors.length;
  for (let m = 0; m < factors.length; m++) {
    const row = matrix.subarray(m * width, (m + 1) * width);
    for (let i = 0; i < width; i++) row[i] = row[i]! * factors[m]!;
  }
}

function addScaledRows(sum: Float32Array, matrix: Float32Array, factors: Float32Array): void {
  const width = matrix.length / factors.length;
  for (let i = 0; i < matrix.length; i++) {
    sum[i] = sum[i]! + matrix[i]! * factors[Math.floor(i / width)]!;
  }
}

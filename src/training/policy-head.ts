import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { policyHeadGraph } from '../models/decoder/head-graph.ts';
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
 * The output head of the policy in training, run once, in chunks. Rows do not depend on each other,
 * so ∂L/∂x_m = ∂L/∂logprob_m · ∂logprob_m/∂x_m: the factors on the right come with the forward pass,
 * and any loss of the logprobs can be computed afterwards on the host.
 */
export async function runPolicyHead(
  base: BaseModel,
  { hidden, tokens }: { hidden: Tensor<'float32'>; tokens: Int32Array },
  { temperature, withEntropy }: PolicyHeadOptions,
): Promise<PolicyRows> {
  const head = await base.compile(`policy head ${withEntropy}`, () =>
    policyHeadGraph(base.architecture, { withEntropy }),
  );
  const { hidden_size } = base.architecture.config;
  const count = tokens.length;
  const logprobs = new Float32Array(count);
  const entropies = new Float32Array(count);
  const byLogprob = new Float32Array(count * hidden_size);
  const byEntropy = new Float32Array(withEntropy ? count * hidden_size : 0);
  const chunk = base.headRowsAtOnce(count);
  for (let start = 0; start < count; start += chunk) {
    const end = Math.min(start + chunk, count);
    const x = hidden.data.subarray(start * hidden_size, end * hidden_size);
    const shared = {
      x: tensor(x, [end - start, hidden_size]),
      tokens: tensor(tokens.subarray(start, end), [end - start]),
      temperature: tensor(Float32Array.of(temperature), []),
    };
    const outputs = await head.run(base.headFeeds(head, shared));
    const put = (name: string, column: Float32Array, width = 1) =>
      column.set(outputs[name]!.data as Float32Array, start * width);
    put('logprob', logprobs);
    put('entropy', entropies);
    put('byLogprob', byLogprob, hidden_size);
    if (withEntropy) put('byEntropy', byEntropy, hidden_size);
  }
  return {
    logprobs,
    entropies,
    pullBack: (dLogprobs, dEntropies) => {
      scaleRows(byLogprob, dLogprobs);
      if (dEntropies !== undefined) addScaledRows(byLogprob, byEntropy, dEntropies);
      return tensor(byLogprob, [count, hidden_size]);
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

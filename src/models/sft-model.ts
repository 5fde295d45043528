import { splitByOffsets } from '../columns/index.ts';
import { freeTensors, type Tensor } from '../engine/runtime/index.ts';
import { RoleModel, type TrunkOptions } from './role-model.ts';
import { realTokens, type TokenBatch } from './token-batch.ts';

/** What a language model computes for a batch. */
export interface ModelOutput {
  /** Per sequence, [length, V]. */
  readonly logits: readonly Tensor<'float32'>[];
}

/** Log-probabilities and entropies of each response's tokens. */
export interface ResponseLogprobs {
  readonly logprobs: readonly Float32Array[];
  /** Entropy of the distribution at each token. */
  readonly entropies: readonly Float32Array[];
}

/** A language model with logits and log-probabilities, such as PPO's reference. */
export class SFTModel extends RoleModel {
  /** Logits after every token. */
  async forward(inputIds: TokenBatch, attentionMask?: TokenBatch): Promise<ModelOutput> {
    const logits: Tensor<'float32'>[] = [];
    for await (const { batch, hidden } of this.runs(realTokens(inputIds, attentionMask))) {
      for (const rows of batch.rows) {
        const states = await this.base.deviceRows.take(hidden, rows);
        logits.push(await this.base.logits(states));
        freeTensors(states);
      }
    }
    return { logits };
  }

  /** log π(response token | prompt, earlier tokens) at a temperature; the head runs on responses only. */
  async logprobs(
    prompts: TokenBatch,
    responses: TokenBatch,
    { temperature = 1, trunk }: { temperature?: number } & TrunkOptions = {},
  ): Promise<ResponseLogprobs> {
    const logprobs: Float32Array[] = [];
    const entropies: Float32Array[] = [];
    for await (const { hidden, responses: part } of this.stateRuns(prompts, responses, { trunk })) {
      const values = await this.base.logprobs(hidden, part.tokens, temperature);
      logprobs.push(...splitByOffsets(values.logprobs, part.offsets));
      entropies.push(...splitByOffsets(values.entropies, part.offsets));
    }
    return { logprobs, entropies };
  }
}

import { splitByLengths } from '../columns/index.ts';
import type { StateOptions } from './role-model.ts';
import { ScalarModel } from './scalar-model.ts';
import { realTokens, type TokenBatch } from './token-batch.ts';

/** V(s): the expected future reward of a state. */
export class ValueModel extends ScalarModel {
  /** The value after every token of each sequence. */
  async forward(inputIds: TokenBatch, attentionMask?: TokenBatch): Promise<Float32Array[]> {
    const values: Float32Array[] = [];
    for await (const { batch, hidden } of this.runs(realTokens(inputIds, attentionMask))) {
      const scores = await this.scores(hidden);
      values.push(...batch.rows.map((rows) => Float32Array.from(rows, (row) => scores[row]!)));
    }
    return values;
  }

  /** The value of the state before each response token, or of `stateCounts` states per response:
   *  one more than its tokens includes the state after the last one. */
  async values(
    prompts: TokenBatch,
    responses: TokenBatch,
    options: StateOptions = {},
  ): Promise<Float32Array[]> {
    const values: Float32Array[] = [];
    for await (const { hidden, counts } of this.stateRuns(prompts, responses, options)) {
      values.push(...splitByLengths(await this.scores(hidden), counts));
    }
    return values;
  }
}

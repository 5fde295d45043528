import { splitByLengths } from '../columns/index.ts';
import { ScalarModel } from './scalar-model.ts';
import { realTokens, type TokenBatch } from './token-batch.ts';

/** V(s): the reward that is still to come. */
export class ValueModel extends ScalarModel {
  /** The value after every token of each sequence. */
  async forward(inputIds: TokenBatch, attentionMask?: TokenBatch): Promise<Float32Array[]> {
    const values: Float32Array[] = [];
    for await (const { sequences, hidden } of this.runs(realTokens(inputIds, attentionMask))) {
      const lengths = sequences.map(({ length }) => length);
      values.push(...splitByLengths(await this.scores(hidden), lengths));
    }
    return values;
  }

  /** The value of the state before each response token, or of as many states as are asked for:
   *  one more is that after the last token. */
  async values(
    prompts: TokenBatch,
    responses: TokenBatch,
    { stateCounts }: { stateCounts?: ArrayLike<number> } = {},
  ): Promise<Float32Array[]> {
    const values: Float32Array[] = [];
    for await (const { hidden, counts } of this.responseRuns(prompts, responses, stateCounts)) {
      values.push(...splitByLengths(await this.scores(hidden), counts));
    }
    return values;
  }
}

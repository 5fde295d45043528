import type { ValueModel } from '../models/value-model.ts';
import type { Rollout } from '../token-attribution/rollout.ts';

/** Predicts the value of each state of a rollout. */
export class ValueAdder {
  private readonly value: ValueModel | undefined;

  /** @param value without one, every state is worth 0 */
  constructor(value: ValueModel | undefined) {
    this.value = value;
  }

  /** V_old of the steps of each sequence: the states before its tokens, and the one after the last
   *  where it has a step more. */
  async addValues(
    { sequences, offsets, tokens }: Pick<Rollout, 'sequences' | 'offsets' | 'tokens'>,
    stepOffsets: Int32Array,
  ): Promise<Float32Array> {
    const values = new Float32Array(stepOffsets.at(-1)!);
    if (this.value === undefined) return values;
    const predicted = await this.value.values(
      sequences.map(({ promptTokens }) => promptTokens),
      sequences.map((_, i) => tokens.subarray(offsets[i]!, offsets[i + 1]!)),
      { stateCounts: sequences.map((_, i) => stepOffsets[i + 1]! - stepOffsets[i]!) },
    );
    predicted.forEach((part, i) => {
      values.set(part, stepOffsets[i]!);
    });
    return values;
  }
}

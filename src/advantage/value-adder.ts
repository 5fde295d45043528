import { lengthsOf, splitByOffsets } from '../columns/index.ts';
import type { ValueModel } from '../models/value-model.ts';
import type { Rollout } from '../token-attribution/rollout.ts';

/** Predicts the value of every state of a rollout. */
export class ValueAdder {
  private readonly value: ValueModel | undefined;

  /** @param value if missing, every state has value 0 */
  constructor(value: ValueModel | undefined) {
    this.value = value;
  }

  /** V_old per step: of the states before each token, and of the state after the last token if the
   *  sequence has a step there, [S].
   *  @param pass computes them in place of the value model's own forward pass */
  async addValues(
    { sequences, offsets, tokens }: Pick<Rollout, 'sequences' | 'offsets' | 'tokens'>,
    stepOffsets: Int32Array,
    pass?: () => Promise<Float32Array>,
  ): Promise<Float32Array> {
    const values = new Float32Array(stepOffsets.at(-1)!);
    if (this.value === undefined) return values;
    if (pass !== undefined) return pass();
    const predicted = await this.value.values(
      sequences.map(({ promptTokens }) => promptTokens),
      splitByOffsets(tokens, offsets),
      {
        stateCounts: lengthsOf(stepOffsets),
        observations: sequences.map(({ observations }) => observations),
      },
    );
    predicted.forEach((part, i) => {
      values.set(part, stepOffsets[i]!);
    });
    return values;
  }
}

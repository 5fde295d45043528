import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { Tensor } from '../engine/runtime/index.ts';
import type { BaseModel } from './decoder/base-model.ts';
import { PackedBatch } from './decoder/packed-batch.ts';
import { takeRows } from './decoder/take-rows.ts';
import { groupByTokens, sizesOf, type TokenBatch } from './token-batch.ts';

export interface RoleOptions {
  readonly base: BaseModel;
  /** What makes this role differ from the base; none for the reference. */
  readonly adapter?: LoraAdapter | undefined;
}

/** Sequences that ran together. */
export interface RoleRun {
  readonly sequences: TokenBatch;
  /** Hidden states before the final norm, [M, hidden]. */
  readonly hidden: Tensor<'float32'>;
  /** The row of each place of each sequence. */
  readonly rows: readonly Int32Array[];
}

/** A role of the shared base: an adapter, and in subclasses a head. */
export class RoleModel {
  readonly base: BaseModel;
  readonly adapter: LoraAdapter | undefined;

  constructor({ base, adapter }: RoleOptions) {
    this.base = base;
    this.adapter = adapter;
  }

  /** Hidden states of all sequences, a group at a time. */
  protected async *runs(sequences: TokenBatch): AsyncGenerator<RoleRun> {
    for (const { start, end } of groupByTokens(sizesOf(sequences))) {
      const group = sequences.slice(start, end);
      const batch = new PackedBatch(group, { share: true });
      const hidden = await this.base.hiddenStates(batch, this.adapter);
      yield { sequences: group, hidden, rows: batch.rows };
    }
  }

  /** Hidden states of the states before each response token: those at its place − 1. Fewer or more
   *  states than tokens are counted from the first one; at most the one after the last is there. */
  protected async *responseRuns(
    prompts: TokenBatch,
    responses: TokenBatch,
    stateCounts: ArrayLike<number> = responses.map(({ length }) => length),
  ): AsyncGenerator<{ hidden: Tensor<'float32'>; responses: TokenBatch; counts: number[] }> {
    // No state is asked for at the last token, as a rule: it need not be run.
    const whole = prompts.map((prompt, i) => [
      ...Array.from(prompt),
      ...Array.from(responses[i]!).slice(0, Math.max(0, stateCounts[i]! - 1)),
    ]);
    let done = 0;
    for await (const { sequences, hidden, rows } of this.runs(whole)) {
      const group = responses.slice(done, done + sequences.length);
      const counts = group.map((_, i) => stateCounts[done + i]!);
      const states = counts.flatMap((length, i) => {
        const first = prompts[done + i]!.length - 1;
        return [...rows[i]!.subarray(first, first + length)];
      });
      done += sequences.length;
      yield { hidden: takeRows(hidden, states), responses: group, counts };
    }
  }
}

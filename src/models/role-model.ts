import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { lengthsOf } from '../columns/index.ts';
import { freeTensors, type Tensor } from '../engine/runtime/index.ts';
import type { BaseModel } from './decoder/base-model.ts';
import { PackedBatch } from './decoder/packed-batch.ts';
import { freePass } from './decoder/pass.ts';
import { forwardFromTrunk, type Trunk } from './decoder/trunk.ts';
import { type Responses, stateRows, toResponses } from './responses.ts';
import { groupByTokens, sizesOf, type TokenBatch } from './token-batch.ts';

/** The base model of a role and the adapter on top of it. */
export interface RoleOptions {
  readonly base: BaseModel;
  /** The role's difference from the base; missing for the plain base. */
  readonly adapter?: LoraAdapter | undefined;
}

/** Where a role may find the states of its frozen layers. */
export interface TrunkOptions {
  /** States of layers that several roles share; without it, all layers run. */
  readonly trunk?: Trunk | undefined;
}

/** Sequences that ran together. */
export interface RoleRun {
  readonly sequences: TokenBatch;
  readonly batch: PackedBatch;
  /** Hidden states before the final norm, [M, hidden]. */
  readonly hidden: Tensor<'float32'>;
}

export interface StateOptions extends TrunkOptions {
  /** Number of states per response; by default one per token. */
  readonly stateCounts?: ArrayLike<number> | undefined;
}

/** States of responses that ran together. */
export interface StateRun {
  readonly responses: Responses;
  /** Number of states per response. */
  readonly counts: readonly number[];
  /** Hidden states before the final norm, one row per state. */
  readonly hidden: Tensor<'float32'>;
}

/** A role of the shared base: an adapter and, in subclasses, a head. */
export class RoleModel {
  readonly base: BaseModel;
  readonly adapter: LoraAdapter | undefined;

  constructor({ base, adapter }: RoleOptions) {
    this.base = base;
    this.adapter = adapter;
  }

  /** Hidden states of all sequences, one group that fits in memory at a time. */
  protected async *runs(
    sequences: TokenBatch,
    { trunk }: TrunkOptions = {},
  ): AsyncGenerator<RoleRun> {
    for (const { start, end } of groupByTokens(sizesOf(sequences))) {
      const group = sequences.slice(start, end);
      const batch = new PackedBatch(group, { share: true });
      const pass = await forwardFromTrunk(this, batch, { trunk });
      yield { sequences: group, batch, hidden: pass.hidden };
      freePass(pass);
    }
  }

  /** Hidden states at the states of responses. The last token runs only if the state after it is
   *  requested, or if a trunk has its states. */
  protected async *stateRuns(
    prompts: TokenBatch,
    responses: TokenBatch,
    { stateCounts = responses.map(({ length }) => length), trunk }: StateOptions = {},
  ): AsyncGenerator<StateRun> {
    const sequences = prompts.map((prompt, i) => [
      ...Array.from(prompt),
      ...Array.from(responses[i]!).slice(0, trunk ? undefined : Math.max(0, stateCounts[i]! - 1)),
    ]);
    let start = 0;
    for await (const { sequences: group, batch, hidden } of this.runs(sequences, { trunk })) {
      const end = start + group.length;
      const part = toResponses(prompts.slice(start, end), responses.slice(start, end));
      const counts = lengthsOf(part.offsets).map((_, i) => stateCounts[start + i]!);
      const states = await this.base.deviceRows.take(hidden, stateRows(batch, part, counts));
      yield { responses: part, counts, hidden: states };
      freeTensors(states);
      start = end;
    }
  }
}

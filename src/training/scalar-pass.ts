import type { SaveList } from '../engine/graph/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import type { Tensor } from '../engine/runtime/index.ts';
import { takeRows } from '../models/decoder/take-rows.ts';
import type { PackedBatch, ScalarModel } from '../models/index.ts';
import { KeptPasses } from './kept-passes.ts';
import { LayerPasses, type Tape } from './layer-passes.ts';
import { putRows } from './response-rows.ts';
import { HEAD, type RoleOptimizer } from './role-optimizer.ts';
import { scalarHeadGradients } from './scalar-head.ts';

export interface ScalarBatch {
  readonly batch: PackedBatch;
  /** Its rows whose number counts. */
  readonly rows: Int32Array;
}

export interface ScalarRun {
  readonly optimizer: RoleOptimizer;
  /** Where dropout masks come from; without it nothing is dropped. */
  readonly random?: RandomStream | undefined;
}

interface ScalarForward {
  readonly tape: Tape;
  /** Of the rows that count. */
  readonly hidden: Tensor<'float32'>;
  readonly scores: Float32Array;
}

/** Forward and backward of a model that gives one number for a token: value and reward models. */
export class ScalarPass {
  private readonly model: ScalarModel;
  private readonly layers: LayerPasses;
  private readonly kept = new KeptPasses<ScalarForward>();

  constructor(model: ScalarModel, { save }: { save: SaveList }) {
    const { base, adapter } = model;
    if (adapter === undefined)
      throw new Error('Internal: a scalar model in training has an adapter');
    this.model = model;
    this.layers = new LayerPasses({ base, adapter, save });
  }

  /** The rows' numbers; the pass is kept for `run` until `forget`. */
  async scores(given: ScalarBatch): Promise<Float32Array> {
    const pass = await this.forward(given);
    this.kept.keep(given.batch, pass);
    return pass.scores;
  }

  /** To be called when the model changes. */
  forget(): void {
    this.kept.clear();
  }

  /** Adds gradients to the optimiser.
   *  @param differentiate gives ∂L/∂score of the rows from their scores */
  async run(
    given: ScalarBatch,
    differentiate: (scores: Float32Array) => Float32Array,
    { optimizer, random }: ScalarRun,
  ): Promise<void> {
    const { base, head } = this.model;
    const kept = this.kept.take(given.batch);
    const { tape, hidden, scores } = kept ?? (await this.forward(given, random));
    const gradients = await scalarHeadGradients(base, { hidden, head }, differentiate(scores));
    optimizer.add({ [HEAD]: gradients.dHead });
    const dHidden = putRows(gradients.dHidden, given.rows, tape.hidden.shape[0]!);
    await this.layers.backward(tape, dHidden, optimizer.add);
  }

  private async forward(
    { batch, rows }: ScalarBatch,
    random?: RandomStream,
  ): Promise<ScalarForward> {
    const tape = await this.layers.forward(batch, random);
    const hidden = takeRows(tape.hidden, rows);
    return { tape, hidden, scores: await this.model.scores(hidden) };
  }
}

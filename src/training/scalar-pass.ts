import type { SaveList } from '../engine/graph/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import { takeRows } from '../models/decoder/take-rows.ts';
import type { PackedBatch, ScalarModel } from '../models/index.ts';
import { LayerPasses } from './layer-passes.ts';
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

/** Forward and backward of a model that gives one number for a token: value and reward models. */
export class ScalarPass {
  private readonly model: ScalarModel;
  private readonly layers: LayerPasses;

  constructor(model: ScalarModel, { save }: { save: SaveList }) {
    const { base, adapter } = model;
    if (adapter === undefined)
      throw new Error('Internal: a scalar model in training has an adapter');
    this.model = model;
    this.layers = new LayerPasses({ base, adapter, save });
  }

  /** Adds gradients to the optimiser.
   *  @param differentiate gives ∂L/∂score of the rows from their scores */
  async run(
    { batch, rows }: ScalarBatch,
    differentiate: (scores: Float32Array) => Float32Array,
    { optimizer, random }: ScalarRun,
  ): Promise<void> {
    const { base, head } = this.model;
    const tape = await this.layers.forward(batch, random);
    const hidden = takeRows(tape.hidden, rows);
    const dScores = differentiate(await this.model.scores(hidden));
    const gradients = await scalarHeadGradients(base, { hidden, head }, dScores);
    optimizer.add({ [HEAD]: gradients.dHead });
    const dHidden = putRows(gradients.dHidden, rows, tape.hidden.shape[0]!);
    await this.layers.backward(tape, dHidden, optimizer.add);
  }
}

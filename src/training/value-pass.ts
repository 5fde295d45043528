import type { PPOConfig } from '../config/ppo-config.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import { takeRows } from '../models/decoder/take-rows.ts';
import { PackedBatch, type ValueModel } from '../models/index.ts';
import { LayerPasses } from './layer-passes.ts';
import { putRows, stateRows } from './response-rows.ts';
import { HEAD, type RoleOptimizer } from './role-optimizer.ts';
import type { StepCounts } from './step-counts.ts';
import { scalarHeadGradients } from './value-head.ts';
import type { ValueLoss } from './value-loss.ts';
import type { ValueSums } from './value-loss-sums.ts';
import { wholeSequences } from './whole-sequences.ts';

export interface ValuePassOptions {
  readonly value: ValueModel;
  readonly loss: ValueLoss;
  readonly config: Pick<PPOConfig, 'saveActivations'>;
}

/** Forward, loss and backward of the value model over micro-batches. */
export class ValuePass {
  private readonly options: ValuePassOptions;
  private readonly layers: LayerPasses;

  constructor(options: ValuePassOptions) {
    const { base, adapter } = options.value;
    if (adapter === undefined)
      throw new Error('Internal: a value model in training has an adapter');
    this.options = options;
    this.layers = new LayerPasses({ base, adapter, save: options.config.saveActivations });
  }

  /** Adds the gradients of one micro-batch to the optimiser; counts are of the whole optimiser step. */
  async run(
    part: Experience,
    { counts, optimizer }: { counts: StepCounts; optimizer: RoleOptimizer },
  ): Promise<ValueSums> {
    const { value, loss } = this.options;
    const { base, head } = value;
    const tape = await this.layers.forward(new PackedBatch(wholeSequences(part)));
    const rows = stateRows(part.sequences, part);
    const hidden = takeRows(tape.hidden, rows);
    const { dValues, sums } = loss.evaluate({
      newValues: await value.scores(hidden),
      oldValues: part.values,
      returns: part.returns,
      ...counts,
    });
    const gradients = await scalarHeadGradients(base, { hidden, head }, dValues);
    optimizer.add({ [HEAD]: gradients.dHead });
    const dHidden = putRows(gradients.dHidden, rows, tape.hidden.shape[0]!);
    await this.layers.backward(tape, dHidden, optimizer.add);
    return sums;
  }
}

import type { PPOConfig } from '../config/ppo-config.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import type { ValueModel } from '../models/index.ts';
import { packSequences } from './pack-sequences.ts';
import { stateRows } from './response-rows.ts';
import type { Responses } from './responses.ts';
import type { RoleOptimizer } from './role-optimizer.ts';
import { type ScalarBatch, ScalarPass } from './scalar-pass.ts';
import type { StepCounts } from './step-counts.ts';
import type { ValueLoss } from './value-loss.ts';
import type { ValueSums } from './value-loss-sums.ts';

export interface ValuePassOptions {
  readonly value: ValueModel;
  readonly loss: ValueLoss;
  readonly config: Pick<PPOConfig, 'saveActivations'>;
}

type States = Responses & Pick<Experience, 'stepOffsets'>;

/** Forward, loss and backward of the value model over micro-batches. */
export class ValuePass {
  private readonly loss: ValueLoss;
  private readonly pass: ScalarPass;

  constructor({ value, loss, config }: ValuePassOptions) {
    this.loss = loss;
    this.pass = new ScalarPass(value, { save: config.saveActivations });
  }

  /** V of the states of some responses; the pass is kept for `run` until `forget`. */
  values(part: States): Promise<Float32Array> {
    return this.pass.scores(batchOf(part));
  }

  /** To be called when the model changes. */
  forget(): void {
    this.pass.forget();
  }

  /** Adds the gradients of one micro-batch to the optimiser; counts are of the whole optimiser step. */
  async run(
    part: Experience,
    { counts, optimizer }: { counts: StepCounts; optimizer: RoleOptimizer },
  ): Promise<ValueSums> {
    const { values: oldValues, returns } = part;
    let found: ValueSums | undefined;
    const differentiate = (newValues: Float32Array) => {
      const { dValues, sums } = this.loss.evaluate({ newValues, oldValues, returns, ...counts });
      found = sums;
      return dValues;
    };
    await this.pass.run(batchOf(part), differentiate, { optimizer });
    return found!;
  }
}

function batchOf(part: States): ScalarBatch {
  const batch = packSequences(part);
  return { batch, rows: stateRows(batch, part) };
}

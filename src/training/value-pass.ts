import type { PPOConfig } from '../config/ppo-config.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import type { ValueModel } from '../models/index.ts';
import { packSequences } from './pack-sequences.ts';
import { stateRows } from './response-rows.ts';
import type { RoleOptimizer } from './role-optimizer.ts';
import { ScalarPass } from './scalar-pass.ts';
import type { StepCounts } from './step-counts.ts';
import type { ValueLoss } from './value-loss.ts';
import type { ValueSums } from './value-loss-sums.ts';

export interface ValuePassOptions {
  readonly value: ValueModel;
  readonly loss: ValueLoss;
  readonly config: Pick<PPOConfig, 'saveActivations'>;
}

/** Forward, loss and backward of the value model over micro-batches. */
export class ValuePass {
  private readonly loss: ValueLoss;
  private readonly pass: ScalarPass;

  constructor({ value, loss, config }: ValuePassOptions) {
    this.loss = loss;
    this.pass = new ScalarPass(value, { save: config.saveActivations });
  }

  /** Adds the gradients of one micro-batch to the optimiser; counts are of the whole optimiser step. */
  async run(
    part: Experience,
    { counts, optimizer }: { counts: StepCounts; optimizer: RoleOptimizer },
  ): Promise<ValueSums> {
    const { values: oldValues, returns } = part;
    const batch = packSequences(part);
    const rows = stateRows(batch, part);
    let found: ValueSums | undefined;
    const differentiate = (newValues: Float32Array) => {
      const { dValues, sums } = this.loss.evaluate({ newValues, oldValues, returns, ...counts });
      found = sums;
      return dValues;
    };
    await this.pass.run({ batch, rows }, differentiate, { optimizer });
    return found!;
  }
}

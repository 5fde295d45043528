import { z } from 'zod';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { Metrics } from '../loop/records.ts';
import { fitLine, show } from './trend.ts';

/** Steps at the full learning rate after which the policy should have moved. */
const STEPS = 5;
/** KL per response, in nats, and distance of the ratio from 1 below which it has not. */
const LEAST = { kl: 0.01, ratio: 0.01 };
/** A change of the reward of this many residual standard deviations is not due to chance. */
const CLEAR_CHANGE = 4;
/** A learning rate that usually moves a LoRA adapter. */
const LORA_RATE = 1e-4;

const stepSchema = z.strictObject({
  kl: z.number(),
  ratio: z.number(),
  reward: z.number(),
  /** Whether responses had different scores. */
  varied: z.boolean(),
});

const stateSchema = z.strictObject({ steps: z.array(stepSchema), done: z.boolean() });

type MotionState = z.output<typeof stateSchema>;

/** Warns once if the first steps of a run barely move the policy: if over the first five steps with at
 *  least half the learning rate (warm-up does not count)
 *
 * - |KL| from the reference < 0.01 nats per response in each of them,
 * - √((ρ̄ − 1)² + Var ρ) < 0.01 for the ratios ρ of the update in each of them, and
 * - the mean reward is flat: its fitted change is below 4 residual standard deviations.
 */
export class MotionMonitor {
  private readonly config: Pick<PPOConfig, 'learningRate'>;
  private memory: MotionState = { steps: [], done: false };

  constructor(config: Pick<PPOConfig, 'learningRate'>) {
    this.config = config;
  }

  /** Records the metrics of a step. Returns the warning, once. */
  update(metrics: Metrics): string | undefined {
    const { steps, done } = this.memory;
    if (done || !(metrics.lr! >= this.config.learningRate / 2)) return undefined;
    const seen = [...steps, readStep(metrics)];
    const isMoving = seen.some(({ kl, ratio }) => !(kl < LEAST.kl && ratio < LEAST.ratio));
    const isDone = isMoving || seen.length === STEPS;
    this.memory = { steps: isDone ? [] : seen, done: isDone };
    if (isMoving || !isDone) return undefined;
    const rewards = seen.map(({ reward }) => reward);
    const { change, residual } = fitLine(rewards);
    return Math.abs(change) > CLEAR_CHANGE * residual && residual > 0
      ? undefined
      : this.describe(seen);
  }

  /** The state for a checkpoint. */
  state(): MotionState {
    return this.memory;
  }

  /** Restores a saved state, or the state of a new run. */
  restore(state: unknown): void {
    this.memory = stateSchema.parse(state ?? { steps: [], done: false });
  }

  private describe(steps: MotionState['steps']): string {
    const { learningRate } = this.config;
    const last = steps.at(-1)!;
    const facts = `after ${STEPS} steps the KL from the reference is ${show(last.kl)} nats per response, ratios differ from 1 by ${show(last.ratio)} and the reward is flat at ${show(last.reward)}`;
    if (!steps.some(({ varied }) => varied)) {
      return `The policy barely moves: ${facts}, because all responses score the same; use a reward that scores responses differently`;
    }
    const better = Math.max(LORA_RATE, 10 * learningRate);
    return `The policy barely moves: ${facts}; raise learningRate (--learning-rate), now ${learningRate}, for example to ${better}: LoRA adapters need higher rates than whole models`;
  }
}

function readStep(metrics: Metrics): MotionState['steps'][number] {
  const [mean, variance] = [metrics['val/ratio']!, metrics['val/ratio_var']!];
  const spreads = Object.entries(metrics).filter(([name]) => /^rewards\/.*\/std$/.test(name));
  return {
    kl: Math.abs(metrics['objective/kl']!),
    ratio: Math.sqrt((mean - 1) ** 2 + variance),
    reward: metrics['objective/scores']!,
    varied: spreads.length === 0 || spreads.some(([, std]) => std > 0),
  };
}

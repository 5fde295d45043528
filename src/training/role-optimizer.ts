import type { PPOConfig } from '../config/ppo-config.ts';
import {
  AdamW,
  type AdamWState,
  clipGradNorm,
  GradientAccumulator,
  globalNorm,
  makeSchedule,
  type NamedArrays,
  type ParameterGroup,
  type Schedule,
} from '../engine/optim/index.ts';

type OptimizerConfig = Pick<PPOConfig, 'adamEps' | 'maxGradNorm' | 'schedule' | 'warmupSteps'>;

/** The gradients of one role, accumulated over micro-batches, and its AdamW. */
export class RoleOptimizer {
  private readonly gathered: GradientAccumulator;
  private readonly adamw: AdamW;
  private readonly groups: readonly ParameterGroup[];
  private readonly config: OptimizerConfig;
  /** Constant until the length of the run is known. */
  private factorAt: Schedule = () => 1;
  /** The norm of the accumulated gradients, if it was computed since the last change. */
  private norm: number | undefined;

  constructor(groups: readonly ParameterGroup[], config: OptimizerConfig) {
    const parameters = Object.assign({}, ...groups.map((group) => group.parameters));
    this.groups = groups;
    this.config = config;
    this.gathered = new GradientAccumulator(parameters);
    this.adamw = new AdamW(groups, { eps: config.adamEps });
  }

  /** Starts a new run of this many optimiser steps: its schedule, and zero moments. */
  start(totalSteps: number): void {
    const { schedule, warmupSteps } = this.config;
    this.factorAt = makeSchedule(schedule, { warmupSteps, totalSteps });
    this.reset();
    if (this.adamw.stepCount === 0) return;
    const { tensors } = this.adamw.state();
    for (const moment of Object.values(tensors)) moment.fill(0);
    this.adamw.restore({ step: 0, tensors });
  }

  /** Adds gradients of some or all parameters. */
  readonly add = (gradients: NamedArrays): void => {
    this.norm = undefined;
    this.gathered.add(gradients);
  };

  /** Norm of the accumulated gradients as one vector; not finite if a gradient is not. */
  gradientNorm(): number {
    this.norm ??= globalNorm(this.gathered.gradients);
    return this.norm;
  }

  /** The learning rate of the next step, of the first group. */
  get learningRate(): number {
    return this.groups[0]!.learningRate * this.factorAt(this.adamw.stepCount);
  }

  /** Clips the accumulated gradients, applies one optimiser step and resets them. */
  step(): void {
    const { norm } = this;
    clipGradNorm(this.gathered.gradients, this.config.maxGradNorm, { norm });
    this.adamw.step(this.gathered.gradients, {
      learningRateFactor: this.factorAt(this.adamw.stepCount),
    });
    this.reset();
  }

  /** Discards the accumulated gradients. */
  reset(): void {
    this.norm = undefined;
    this.gathered.reset();
  }

  /** Copies parameters and moments; the returned function restores them. */
  snapshot(): () => void {
    const state = this.adamw.state();
    const parameters = this.groups.flatMap((group) => Object.values(group.parameters));
    const copies = parameters.map((parameter) => parameter.slice());
    return () => {
      this.adamw.restore(state);
      parameters.forEach((parameter, i) => {
        parameter.set(copies[i]!);
      });
    };
  }

  /** Moments of the optimiser, for a checkpoint. */
  state(): AdamWState {
    return this.adamw.state();
  }

  /** Restores the moments from a checkpoint. */
  restore(state: AdamWState): void {
    this.adamw.restore(state);
  }
}

import type { StageConfig } from '../config/stage-config.ts';
import { PromptOrder } from '../data/index.ts';
import type { TrainEvent } from '../ppo-trainer/events.ts';
import type { SaveCheckpoint } from '../ppo-trainer/loop-checkpoints.ts';
import type { Metrics } from '../ppo-trainer/records.ts';
import {
  describeInterruption,
  isToldToStop,
  type StepControl,
  stoppedOnRequest,
} from '../ppo-trainer/step-control.ts';
import type { RoleOptimizer } from '../training/index.ts';
import { loadStageState, type StageWeights, saveStageState } from './stage-state.ts';

/** What a stage does in a step; the loop knows nothing of losses. */
export interface Stage extends StageWeights {
  readonly optimizer: RoleOptimizer;
  /** What there is to learn from. */
  readonly count: number;
  /** Gathers the gradients of some of it.
   *  @param context the step, from 0, keys random streams */
  learn(indices: Int32Array, context: { step: number }): Promise<Metrics>;
  /** Metrics on what is not learned from; undefined if there is nothing. */
  validate(): Promise<Metrics | undefined>;
  /** The validation metric by which checkpoints are compared. */
  readonly goal: { readonly metric: string; readonly better: 'lower' | 'higher' };
}

export interface StageOptions {
  readonly onEvent?: ((event: TrainEvent) => void | Promise<void>) | undefined;
  /** Ends the run in order: what is done is saved. */
  readonly signal?: AbortSignal | undefined;
  /** Pauses, saves and ends the run between steps. */
  readonly control?: StepControl | undefined;
  readonly saveCheckpoint?: SaveCheckpoint | undefined;
  /** Folder of the checkpoint to go on from. */
  readonly resumeFrom?: string | undefined;
}

/** How a stage ended. */
export interface StageResults {
  readonly steps: number;
  readonly reason: 'completed' | 'interrupted';
  /** Of the last step. */
  readonly metrics: Metrics;
  /** Of the last validation. */
  readonly validation: Metrics | undefined;
}

/** Epochs over data in optimiser steps, with validation and checkpoints. Resuming goes on exactly. */
export class StageLoop {
  private readonly stage: Stage;
  private readonly config: StageConfig;
  private readonly options: StageOptions;
  private readonly order: PromptOrder;
  private progress: { step: number; validatedStep: number; best: number | null };
  private savedStep = -1;
  private metrics: Metrics = {};
  private validation: Metrics | undefined;

  constructor(stage: Stage, { config, options }: { config: StageConfig; options: StageOptions }) {
    const { seed, batchSize, shuffle } = config;
    this.stage = stage;
    this.config = config;
    this.options = options;
    this.order = new PromptOrder({ seed, batchSize, shuffle, count: stage.count });
    this.progress = { step: 0, validatedStep: -1, best: null };
  }

  get totalSteps(): number {
    const { numEpochs, maxSteps = Infinity } = this.config;
    return Math.min(numEpochs * this.order.stepsPerEpoch, maxSteps);
  }

  async run(): Promise<StageResults> {
    const { signal, control, resumeFrom } = this.options;
    const { totalSteps } = this;
    const { stepsPerEpoch } = this.order;
    this.stage.optimizer.plan(totalSteps);
    if (resumeFrom !== undefined) {
      this.progress = await loadStageState(resumeFrom, this.stage, this.config);
      this.savedStep = this.progress.step;
    }
    await this.emit({ type: 'run-start', step: this.progress.step, totalSteps, stepsPerEpoch });
    for (;;) {
      const isBest = await this.validateIfDue();
      const { step } = this.progress;
      if (step > 0 && (isBest || isMultiple(step, this.config.saveInterval)))
        await this.save(isBest);
      if (step >= totalSteps) return this.end('completed', 'All steps are done');
      const isAsked = await isToldToStop(control, { step, save: () => this.save() });
      if (isAsked) return this.end('interrupted', stoppedOnRequest);
      if (signal?.aborted) return this.end('interrupted', describeInterruption(signal));
      await this.makeStep();
    }
  }

  private async makeStep(): Promise<void> {
    const { stage, order } = this;
    const { step } = this.progress;
    const start = performance.now();
    const lr = stage.optimizer.learningRate;
    const learned = await stage.learn(order.batchAt(step), { step });
    const norm = stage.optimizer.gradientNorm();
    expectFinite({ ...learned, 'train/grad_norm': norm }, step + 1);
    stage.optimizer.step();
    this.progress = { ...this.progress, step: step + 1 };
    const seconds = (performance.now() - start) / 1000;
    this.metrics = {
      ...learned,
      'train/grad_norm': norm,
      lr,
      'timing/step': seconds,
      'perf/rss_mb': process.memoryUsage.rss() / 2 ** 20,
    };
    const about = { step: step + 1, epoch: order.epochAt(step) + 1 };
    await this.emit({ type: 'step', ...about, metrics: this.metrics, samples: [], tokens: [] });
  }

  /** Validates at the start, at intervals and at the end; tells whether that was the best so far. */
  private async validateIfDue(): Promise<boolean> {
    const { step, validatedStep, best } = this.progress;
    const isDue =
      step === 0 || isMultiple(step, this.config.evalInterval) || step === this.totalSteps;
    if (!isDue || validatedStep === step) return false;
    const metrics = await this.stage.validate();
    if (metrics === undefined) return false;
    const { metric, better } = this.stage.goal;
    const value = metrics[metric]! * (better === 'higher' ? 1 : -1);
    const isBest = best === null || value > best;
    this.validation = metrics;
    this.progress = { step, validatedStep: step, best: isBest ? value : best };
    await this.emit({ type: 'validation', step, metrics });
    return isBest;
  }

  private async save(isBest = false): Promise<void> {
    const { saveCheckpoint } = this.options;
    const { step } = this.progress;
    if (saveCheckpoint === undefined || this.savedStep === step) return;
    const write = (folder: string) =>
      saveStageState(folder, this.stage, { progress: this.progress, config: this.config });
    const folder = await saveCheckpoint(write, { step, isBest });
    this.savedStep = step;
    await this.emit({ type: 'checkpoint', step, folder, isBest });
  }

  private async end(reason: StageResults['reason'], message: string): Promise<StageResults> {
    const { step } = this.progress;
    await this.save();
    await this.emit({ type: 'run-end', step, reason, message });
    return { steps: step, reason, metrics: this.metrics, validation: this.validation };
  }

  private async emit(event: TrainEvent): Promise<void> {
    await this.options.onEvent?.(event);
  }
}

function expectFinite(metrics: Metrics, step: number): void {
  const bad = Object.entries(metrics).find(([, number]) => !Number.isFinite(number));
  if (bad === undefined) return;
  throw new RangeError(
    `Cannot make step ${step}: ${bad[0]} must be finite, got ${bad[1]}; lower the learning rate`,
  );
}

function isMultiple(step: number, interval: number): boolean {
  return interval > 0 && step % interval === 0;
}

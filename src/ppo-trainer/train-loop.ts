import type { TrainingConfig } from '../config/training-config.ts';
import { PromptOrder, type PromptRecord } from '../data/index.ts';
import { NonFiniteError } from '../training/index.ts';
import type { Components } from './components.ts';
import { EpochAverages } from './epoch-averages.ts';
import type { EvaluationReport } from './evaluation-report.ts';
import type { Evaluator } from './evaluator.ts';
import type { Phase, TrainEvent } from './events.ts';
import {
  LoopCheckpoints,
  type LoopState,
  runIdentity,
  type SaveCheckpoint,
} from './loop-checkpoints.ts';
import { ppoStep } from './ppo-step.ts';
import type { Metrics, StopReason } from './records.ts';
import {
  describeInterruption,
  isToldToStop,
  type StepControl,
  stoppedOnRequest,
} from './step-control.ts';
import { stepRecords } from './step-records.ts';
import { optimizerSteps } from './update-models.ts';

export interface TrainLoopOptions {
  readonly components: Components;
  readonly evaluator: Evaluator;
  readonly training: TrainingConfig;
  readonly prompts: readonly PromptRecord[];
  readonly validation: readonly PromptRecord[];
  readonly emit: (event: TrainEvent) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
  readonly control?: StepControl | undefined;
  readonly saveCheckpoint?: SaveCheckpoint | undefined;
  /** Folder of the checkpoint to go on from. */
  readonly resumeFrom?: string | undefined;
}

export interface LoopResult {
  readonly steps: number;
  readonly reason: StopReason;
  readonly message: string;
  /** Means over the steps of the last epoch. */
  readonly metrics: Metrics;
  readonly report: EvaluationReport | undefined;
}

/** The loop of the documents: steps, monitoring, evaluation, convergence check, checkpoints. */
export class TrainLoop {
  private readonly options: TrainLoopOptions;
  private readonly order: PromptOrder;
  private readonly averages = new EpochAverages();
  private readonly checkpoints: LoopCheckpoints;
  private progress: Omit<LoopState, 'metrics' | 'epoch'> = {
    step: 0,
    episodes: 0,
    evaluatedStep: -1,
    stop: null,
  };
  private metrics: Metrics = {};
  private report: EvaluationReport | undefined;
  /** What a listener threw while a phase was under way. */
  private failure: unknown;

  constructor(options: TrainLoopOptions) {
    const { components, training, prompts } = options;
    const { seed, batchSize } = components.config;
    const { shuffle } = training;
    this.options = options;
    this.order = new PromptOrder({ seed, batchSize, shuffle, count: prompts.length });
    const { totalSteps } = this;
    const identity = runIdentity(components.config, { shuffle, prompts, totalSteps });
    this.checkpoints = new LoopCheckpoints(options, identity);
  }

  /** Steps of the whole run. */
  get totalSteps(): number {
    const { numEpochs, maxSteps = Infinity } = this.options.training;
    return Math.min(numEpochs * this.order.stepsPerEpoch, maxSteps);
  }

  async run(): Promise<LoopResult> {
    const { components, emit, resumeFrom, signal, control } = this.options;
    const { totalSteps, order } = this;
    const { config, modelTrainer } = components;
    const responses = config.batchSize * config.samplesPerPrompt;
    modelTrainer.plan(totalSteps * optimizerSteps(config, responses));
    if (resumeFrom !== undefined) await this.resume(resumeFrom);
    const { stepsPerEpoch } = order;
    await emit({ type: 'run-start', step: this.progress.step, totalSteps, stepsPerEpoch });
    try {
      for (;;) {
        await this.evaluateIfDue();
        await this.saveIfDue();
        const { step, stop } = this.progress;
        if (stop !== null) return await this.end(stop.reason, stop.message);
        if (step >= totalSteps) return await this.end('completed', 'All steps are done');
        const isAsked = await isToldToStop(control, { step, save: () => this.save() });
        if (isAsked) return await this.end('interrupted', stoppedOnRequest);
        signal?.throwIfAborted();
        await this.makeStep();
      }
    } catch (error) {
      if (signal?.aborted) return await this.end('interrupted', describeInterruption(signal));
      throw await this.rescue(error);
    }
  }

  private async makeStep(): Promise<void> {
    const { components, prompts, training, emit, signal } = this.options;
    const { step, episodes } = this.progress;
    const places = this.order.batchAt(step);
    const batch = Array.from(places, (place) => prompts[place]!);
    const onProgress = (phase: Phase, done: number, total: number) =>
      this.tell({ type: 'phase', step: step + 1, phase, done, total });
    const result = await ppoStep(components, batch, { step, signal, onProgress, log: training });
    if (this.failure !== undefined) throw this.failure;
    const done = episodes + result.experience.sequences.length;
    this.progress = { ...this.progress, step: step + 1, episodes: done };
    this.metrics = { ...result.metrics, episode: done };
    this.averages.add(this.metrics);
    const about = { step: step + 1, epoch: this.order.epochAt(step) + 1 };
    const records = stepRecords(result, { ...about, places, components, training });
    await emit({ type: 'step', ...about, metrics: this.metrics, ...records });
    if ((step + 1) % this.order.stepsPerEpoch === 0 || step + 1 === this.totalSteps) {
      this.metrics = { ...this.averages.take(), episode: done };
      await emit({ type: 'epoch', ...about, metrics: this.metrics });
    }
  }

  /** Evaluates at the start, at intervals and at the end, once at each; may find a reason to stop. */
  private async evaluateIfDue(): Promise<void> {
    const { evaluator, validation, components, training, emit, signal } = this.options;
    const { step, evaluatedStep } = this.progress;
    const isDue = step === 0 || isMultiple(step, training.evalInterval) || step === this.totalSteps;
    if (!isDue || evaluatedStep === step || validation.length === 0) return;
    const { klCoef } = components.rewardComputer;
    const onProgress = ({ done, total }: { done: number; total: number }) =>
      this.tell({ type: 'phase', step, phase: 'evaluate', done, total });
    const report = await evaluator.evaluate(validation, { step, klCoef, signal, onProgress });
    this.report = report;
    const { stop: reason, message } = report.convergence;
    const stop = reason === undefined ? null : { reason, message };
    this.progress = { ...this.progress, evaluatedStep: step, stop };
    await emit({ type: 'evaluation', step, report });
  }

  /** Saves at intervals, and whenever the validation reward is the best so far. */
  private async saveIfDue(): Promise<void> {
    const { step, evaluatedStep } = this.progress;
    const { performanceImproved = false } = this.report?.convergence ?? {};
    const isBest = evaluatedStep === step && performanceImproved;
    const isDue = isMultiple(step, this.options.training.saveInterval);
    if (step > 0 && (isDue || isBest)) await this.save(isBest);
  }

  private async save(isBest = false): Promise<void> {
    const { progress, metrics, averages } = this;
    await this.checkpoints.save({ ...progress, metrics, epoch: averages.state() }, isBest);
  }

  private async resume(folder: string): Promise<void> {
    const { epoch, metrics, ...progress } = await this.checkpoints.load(folder);
    this.averages.restore(epoch);
    this.progress = progress;
    this.metrics = metrics;
  }

  private async end(reason: StopReason, message: string): Promise<LoopResult> {
    const { step } = this.progress;
    await this.save();
    await this.options.emit({ type: 'run-end', step, reason, message });
    return { steps: step, reason, message, metrics: this.metrics, report: this.report };
  }

  /** Saves what was done before an error, and says so where numbers are not finite. */
  private async rescue(error: unknown): Promise<unknown> {
    const { step } = this.progress;
    // Whatever keeps this from being saved, the error itself is what counts.
    if (step > 0) await this.save().catch(() => undefined);
    if (!(error instanceof NonFiniteError)) return error;
    const kept = this.checkpoints.has(step) ? `; the state after step ${step} is saved` : '';
    return new NonFiniteError(`Cannot make step ${step + 1}: ${error.message}${kept}`);
  }

  /** Tells of progress without waiting; what a listener throws ends the step. */
  private tell(event: TrainEvent): void {
    this.options.emit(event).catch((error: unknown) => {
      this.failure ??= error;
    });
  }
}

function isMultiple(step: number, interval: number): boolean {
  return interval > 0 && step % interval === 0;
}

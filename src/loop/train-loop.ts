import { PromptOrder } from '../data/prompt-order.ts';
import type { CheckpointFolders, CheckpointPlaces, LoopStore } from './checkpoint.ts';
import type { EvaluationReport } from './evaluation-report.ts';
import type { Phase, TrainEvent } from './events.ts';
import { checkLoopState, type LoopState } from './loop-state.ts';
import type { Metrics, SampleRecord, StopReason, TokenRecord } from './records.ts';
import {
  describeInterruption,
  type StepControl,
  stoppedOnRequest,
  stopRequested,
} from './step-control.ts';

/** What the loop repeats: PPO, supervised fine-tuning or reward-model training. */
export interface Training {
  /** Number of prompts or texts to train on. */
  readonly count: number;
  /** Everything that must be unchanged for a run to resume exactly. */
  identity(): Readonly<Record<string, unknown>>;
  /** Starts a new run: schedules over this many steps, fresh optimisers and counters. */
  start(totalSteps: number): void;
  /** Trains on the items at these indices. A step that throws changes nothing. */
  step(indices: Int32Array, context: TrainStepContext): Promise<StepOutcome>;
  /** Measures the model on held-out data; undefined if there is none. */
  evaluate(context: TrainStepContext): Promise<EvaluationOutcome | undefined>;
  /** Missing if the training cannot be saved. */
  readonly state?:
    | {
        /** Writes weights and optimiser state into a folder. Returns the rest, as JSON. */
        save(folder: string): Promise<unknown>;
        /** Restores what `save` wrote. */
        load(folder: string, saved: unknown): Promise<void>;
      }
    | undefined;
}

/** What the loop passes to a training step. */
export interface TrainStepContext {
  /** Number of completed steps. It keys the random streams. */
  readonly step: number;
  readonly signal?: AbortSignal | undefined;
  /** Reports how much of a phase of the step is done. */
  readonly onProgress: (phase: Phase, done: number, total: number) => void;
}

/** What a training step returns to the loop. */
export interface StepOutcome {
  readonly metrics: Metrics;
  /** Number of responses or texts that the step trained on. */
  readonly episodes: number;
  readonly samples?: readonly SampleRecord[];
  readonly tokens?: readonly TokenRecord[];
  /** Something about the step that needs attention, in one sentence. */
  readonly warning?: string | undefined;
}

/** What an evaluation returns to the loop. */
export interface EvaluationOutcome {
  /** `eval/…` */
  readonly metrics: Metrics;
  readonly report?: EvaluationReport;
  /** Whether this is the best model so far. */
  readonly improved: boolean;
  /** Set if training should stop. */
  readonly stop?: { readonly reason: StopReason; readonly message: string } | undefined;
}

export interface LoopConfig {
  readonly seed: number;
  /** Items per step. */
  readonly batchSize: number;
  readonly shuffle: boolean;
  readonly numEpochs: number;
  /** Overrides `numEpochs`. */
  readonly maxSteps?: number | undefined;
  /** How the learning rate changes over the run. */
  readonly schedule: string;
  /** Steps between evaluations; 0 evaluates only before the first and after the last step. */
  readonly evalInterval: number;
  /** Steps between checkpoints; 0 saves only the best and the last. */
  readonly saveInterval: number;
  /** Number of newest checkpoints to keep in `output`, besides the best. */
  readonly keepCheckpoints: number;
}

/** Options of every `train()`. */
export interface LoopOptions extends CheckpointPlaces {
  /** Awaited for every event except `phase`. */
  readonly onEvent?: ((event: TrainEvent) => void | Promise<void>) | undefined;
  /** Stops the run cleanly: completed steps are saved. */
  readonly signal?: AbortSignal | undefined;
  /** Pauses, saves or stops the run between steps. */
  readonly control?: StepControl | undefined;
}

/** What the loop itself receives: where checkpoints go is up to its store. */
export interface TrainLoopOptions extends Omit<LoopOptions, keyof CheckpointPlaces> {
  /** Nothing is saved without it. */
  readonly checkpoints?: LoopStore | undefined;
}

/** How a run ended. */
export interface LoopResult {
  readonly steps: number;
  readonly reason: StopReason;
  /** One sentence for the user. */
  readonly message: string;
  /** Means over the steps of the last epoch. */
  readonly metrics: Metrics;
  /** Of the last evaluation. */
  readonly evaluation: Metrics | undefined;
  /** PPO only. */
  readonly report: EvaluationReport | undefined;
  /** Undefined without `output`. */
  readonly checkpoints: CheckpointFolders | undefined;
}

type Progress = Pick<LoopState, 'step' | 'episodes' | 'evaluatedStep' | 'stop'>;

/**
 * The training loop: epochs, evaluation, checkpoints, resume, control and events, the same for PPO,
 * supervised fine-tuning and reward models. A resumed run continues bit for bit.
 */
export class TrainLoop {
  private readonly training: Training;
  private readonly config: LoopConfig;
  private readonly options: TrainLoopOptions;
  private readonly order: PromptOrder;
  private readonly averages = new EpochAverages();
  private progress: Progress = { step: 0, episodes: 0, evaluatedStep: -1, stop: null };
  private saved = { step: -1, isBest: false };
  private metrics: Metrics = {};
  private evaluation: EvaluationOutcome | undefined;
  /** What a listener threw while it handled a `phase` event. */
  private listenerError: unknown;

  constructor(training: Training, config: LoopConfig, options: TrainLoopOptions) {
    this.training = training;
    this.config = config;
    this.options = options;
    this.order = new PromptOrder({ ...config, count: training.count });
  }

  /** Number of steps of the whole run. */
  get totalSteps(): number {
    return countSteps(this.config, this.order.stepsPerEpoch);
  }

  /** Runs all remaining steps with their evaluations and checkpoints, and returns the result. */
  async run(): Promise<LoopResult> {
    const { signal, control } = this.options;
    const { totalSteps } = this;
    const { stepsPerEpoch } = this.order;
    const start = await this.options.checkpoints?.findStart();
    this.training.start(totalSteps);
    const notes = start === undefined ? [] : await this.resume(start.folder);
    for (const message of [...(start?.warnings ?? []), ...notes]) {
      await this.emit({ type: 'warning', step: this.progress.step, message });
    }
    await this.emit({ type: 'run-start', step: this.progress.step, totalSteps, stepsPerEpoch });
    try {
      for (;;) {
        await this.evaluateIfDue();
        await this.saveIfDue();
        const { step, stop } = this.progress;
        if (stop !== null) return await this.end(stop.reason, stop.message);
        if (step >= totalSteps) return await this.end('completed', 'All steps are done');
        if (await stopRequested(control, { step, save: () => this.save() })) {
          return await this.end('interrupted', stoppedOnRequest);
        }
        signal?.throwIfAborted();
        await this.runStep();
      }
    } catch (error) {
      if (signal?.aborted) return await this.end('interrupted', describeInterruption(signal));
      throw await this.saveBeforeError(error);
    }
  }

  private async runStep(): Promise<void> {
    const { step, episodes: before } = this.progress;
    const outcome = await this.training.step(this.order.batchAt(step), this.context(step + 1));
    if (this.listenerError !== undefined) throw this.listenerError;
    const { samples = [], tokens = [] } = outcome;
    const episode = before + outcome.episodes;
    this.progress = { ...this.progress, step: step + 1, episodes: episode };
    this.metrics = { ...outcome.metrics, episode };
    this.averages.add(this.metrics);
    const position = { step: step + 1, epoch: this.order.epochAt(step) + 1 };
    await this.emit({ type: 'step', ...position, metrics: this.metrics, samples, tokens });
    if (outcome.warning !== undefined) {
      await this.emit({ type: 'warning', step: step + 1, message: outcome.warning });
    }
    if ((step + 1) % this.order.stepsPerEpoch === 0 || step + 1 === this.totalSteps) {
      this.metrics = { ...this.averages.take(), episode };
      await this.emit({ type: 'epoch', ...position, metrics: this.metrics });
    }
  }

  /** Evaluates before the first step, at intervals and after the last step, once at each. */
  private async evaluateIfDue(): Promise<void> {
    const { step, evaluatedStep } = this.progress;
    const isDue =
      step === 0 || isMultiple(step, this.config.evalInterval) || step === this.totalSteps;
    if (!isDue || evaluatedStep === step) return;
    const outcome = await this.training.evaluate(this.context(step));
    if (outcome === undefined) return;
    const { metrics, report, stop = null } = outcome;
    this.evaluation = outcome;
    this.progress = { ...this.progress, evaluatedStep: step, stop };
    await this.emit({ type: 'evaluation', step, metrics, ...(report && { report }) });
  }

  /** Saves at intervals, and whenever an evaluation is the best so far: also before the first step,
   *  because all later ones may be worse. */
  private async saveIfDue(): Promise<void> {
    const { step, evaluatedStep } = this.progress;
    const isBest = evaluatedStep === step && (this.evaluation?.improved ?? false);
    const isDue = step > 0 && isMultiple(step, this.config.saveInterval);
    if (isDue || isBest) await this.save(isBest);
  }

  /** Saves each step once, and again if it turns out to be the best. */
  private async save(isBest = false): Promise<void> {
    const { step } = this.progress;
    if (this.saved.step === step && (this.saved.isBest || !isBest)) return;
    const write = (target: string) => this.writeState(target);
    const folder = await this.options.checkpoints?.save(write, { step, isBest });
    if (folder === undefined) return;
    this.saved = { step, isBest };
    await this.emit({ type: 'checkpoint', step, folder, isBest });
  }

  private async writeState(folder: string): Promise<void> {
    const { progress, metrics, averages, training } = this;
    const state = {
      ...progress,
      metrics,
      epoch: averages.state(),
      totalSteps: this.totalSteps,
      config: training.identity(),
      training: await this.state.save(folder),
    };
    await this.store.writeState(folder, state);
  }

  /** Restores the state of a checkpoint. Returns sentences for the user. */
  async resume(folder: string): Promise<string[]> {
    const state = await this.store.readState(folder);
    const { totalSteps, config } = this;
    const identity = this.training.identity();
    const notes = checkLoopState(state, { identity, totalSteps, schedule: config.schedule });
    const { metrics, epoch, training, totalSteps: before } = state;
    const { step, episodes, evaluatedStep, stop } = state;
    await this.state.load(folder, training);
    this.averages.restore(epoch);
    const isExtended = before !== undefined && totalSteps > before;
    this.progress = { step, episodes, evaluatedStep, stop: isExtended ? null : stop };
    this.saved = { step, isBest: false };
    this.metrics = Object.fromEntries(
      Object.entries(metrics).map(([name, x]) => [name, x ?? Number.NaN]),
    );
    return notes;
  }

  private async end(reason: StopReason, message: string): Promise<LoopResult> {
    const { step } = this.progress;
    await this.save();
    await this.emit({ type: 'run-end', step, reason, message });
    const { metrics: evaluation, report } = this.evaluation ?? {};
    const checkpoints = await this.options.checkpoints?.folders();
    return { steps: step, reason, message, metrics: this.metrics, evaluation, report, checkpoints };
  }

  /** Saves the completed steps after an error, and adds that to the message. */
  private async saveBeforeError(error: unknown): Promise<unknown> {
    const { step } = this.progress;
    // The original error matters more than a failure to save.
    if (step > 0) await this.save().catch(() => undefined);
    if (!(error instanceof StepError)) return error;
    const saved = this.saved.step === step ? `; the state after step ${step} is saved` : '';
    error.message = `Cannot complete step ${step + 1}: ${error.message}${saved}`;
    return error;
  }

  private get store(): LoopStore {
    const { checkpoints } = this.options;
    if (checkpoints === undefined) throw new Error('Internal: the loop has no checkpoints');
    return checkpoints;
  }

  private get state(): NonNullable<Training['state']> {
    const { state } = this.training;
    if (state === undefined) throw new Error('Internal: the training cannot be saved');
    return state;
  }

  /** The context of a step or evaluation.
   *  @param shown the step number that progress events carry */
  private context(shown: number): TrainStepContext {
    const { signal } = this.options;
    const onProgress = (phase: Phase, done: number, total: number) => {
      // Progress is reported without waiting. An error in a listener ends the step.
      this.emit({ type: 'phase', step: shown, phase, done, total }).catch((error: unknown) => {
        this.listenerError ??= error;
      });
    };
    return { step: this.progress.step, signal, onProgress };
  }

  private async emit(event: TrainEvent): Promise<void> {
    await this.options.onEvent?.(event);
  }
}

/** The number of steps of a run: `maxSteps`, or those of all epochs. */
export function countSteps(
  { numEpochs, maxSteps }: Pick<LoopConfig, 'numEpochs' | 'maxSteps'>,
  stepsPerEpoch: number,
): number {
  return maxSteps ?? numEpochs * stepsPerEpoch;
}

/** A step that cannot be completed. The models are as they were before it. */
export class StepError extends Error {
  override readonly name: string = 'StepError';
}

/** A step produced a number that is not finite. */
export class NonFiniteError extends StepError {
  override readonly name = 'NonFiniteError';
}

function isMultiple(step: number, interval: number): boolean {
  return interval > 0 && step % interval === 0;
}

/** Sum and count of each metric over an epoch's steps so far; JSON-able. */
export type EpochState = Record<string, [sum: number, count: number]>;

/** Averages metrics over the steps of an epoch in which they are numbers. */
export class EpochAverages {
  private held: EpochState = {};

  add(metrics: Metrics): void {
    for (const [name, x] of Object.entries(metrics)) {
      if (!Number.isFinite(x)) continue;
      const [sum, count] = this.held[name] ?? [0, 0];
      this.held[name] = [sum + x, count + 1];
    }
  }

  /** The means since the last call, which starts a new epoch. */
  take(): Metrics {
    const means = Object.entries(this.held).map(([name, [sum, count]]) => [name, sum / count]);
    this.held = {};
    return Object.fromEntries(means);
  }

  state(): EpochState {
    return { ...this.held };
  }

  restore(state: EpochState): void {
    this.held = { ...state };
  }
}

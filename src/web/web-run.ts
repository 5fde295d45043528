import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { adapterFromFiles } from '../base-setup/lora/peft-reader.ts';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import { resolveTrainingConfig } from '../config/training-config.ts';
import type { StepControl, TrainEvent } from '../loop/index.ts';
import { type LoopResult, TrainLoop } from '../loop/train-loop.ts';
import type { LoadedModel } from '../models/decoder/load-model.ts';
import { buildComponents, type PPOComponents } from '../ppo-trainer/components.ts';
import { ppoTraining } from '../ppo-trainer/ppo-training.ts';
import { readPrompts } from '../ppo-trainer/read-prompts.ts';
import { RewardComputer } from '../reward-kl/reward-computer.ts';
import type { RewardSource } from '../reward-kl/reward-source.ts';
import type { TrainMessage } from './messages.ts';

/** What a run in a worker needs besides its settings. */
export interface WebRunOptions {
  readonly model: LoadedModel;
  /** The source of a reward, by its name. */
  readonly rewardSource: (reward: TrainMessage['rewards'][number]) => RewardSource;
  readonly onEvent: (event: TrainEvent) => void;
}

/** One training in a worker, which can be paused between two steps. */
export class WebRun implements StepControl {
  readonly components: PPOComponents;
  private readonly loop: TrainLoop;
  private readonly emit: (event: TrainEvent) => void;
  private readonly stopping = new AbortController();
  private isPaused = false;
  private wake: (() => void) | undefined;
  private klCoef: number | undefined;
  private isStepping = false;
  /** Tasks that wait for the end of the current step. */
  private tasks: (() => Promise<void>)[] = [];
  private lastTask: Promise<unknown> = Promise.resolve();

  /** Builds the models of a run over one copy of the base. */
  static async create(message: TrainMessage, options: WebRunOptions): Promise<WebRun> {
    const saved = message.adapter && (await adapterFromFiles(message.adapter, options.model.base));
    return new WebRun(message, { ...options, initialAdapter: saved?.adapter });
  }

  private constructor(
    message: TrainMessage,
    options: WebRunOptions & { readonly initialAdapter: LoraAdapter | undefined },
  ) {
    const { model, initialAdapter, rewardSource, onEvent } = options;
    const config = resolvePPOConfig({ ...message.config, modelName: model.name });
    const training = resolveTrainingConfig(message.training);
    this.emit = onEvent;
    this.components = buildComponents(config, model, {
      initialAdapter,
      rewards: message.rewards.map((reward) => ({
        source: rewardSource(reward),
        weight: reward.weight,
      })),
      warn: (text) => onEvent({ type: 'warning', step: 0, message: text }),
    });
    const parts = {
      training,
      prompts: readPrompts(message.prompts, this.components, 'train'),
      validation: [],
      initialRewards: this.components.rewardComputer.state(),
    };
    this.loop = new TrainLoop(
      ppoTraining(this.components, parts),
      { ...config, ...training },
      { onEvent, control: this, signal: this.stopping.signal },
    );
  }

  /** Trains until all steps are done or the run is stopped. */
  async run(): Promise<LoopResult> {
    try {
      return await this.loop.run();
    } finally {
      await this.endStep();
    }
  }

  /** Calls a function while no step changes the weights: now, or after the current step. */
  betweenUpdates<T>(task: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const start = () => task().then(resolve, reject);
      if (this.isStepping) this.tasks.push(start);
      else this.lastTask = start();
    });
  }

  private async endStep(): Promise<void> {
    this.isStepping = false;
    for (const task of this.tasks.splice(0)) await task();
  }

  /** Waits after the current step. */
  pause(): void {
    this.isPaused = true;
  }

  /** Continues a paused run. */
  resume(): void {
    this.isPaused = false;
    this.wake?.();
  }

  /** Ends the run; the step in progress is dropped. */
  stop(): void {
    this.stopping.abort();
    this.resume();
  }

  /** Sets β from the next step on. */
  setKlCoef(klCoef: number): void {
    this.klCoef = klCoef;
  }

  async betweenSteps(step: number): Promise<'continue' | 'stop'> {
    await this.endStep();
    if (this.isPaused) {
      this.emit({ type: 'control', step, status: 'paused', message: 'The run is paused' });
      while (this.isPaused) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
      this.emit({ type: 'control', step, status: 'running', message: 'The run continues' });
    }
    const { rewardComputer } = this.components;
    if (this.klCoef !== undefined && rewardComputer instanceof RewardComputer) {
      rewardComputer.setKlCoef(this.klCoef);
    }
    await this.lastTask;
    if (this.stopping.signal.aborted) return 'stop';
    this.isStepping = true;
    return 'continue';
  }

  /** Frees all sessions of the run; the base stays usable. */
  async dispose(): Promise<void> {
    await this.components.policy.dispose();
    await this.components.reference.dispose();
  }
}

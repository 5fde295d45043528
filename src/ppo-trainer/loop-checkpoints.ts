import type { PPOConfig } from '../config/ppo-config.ts';
import type { Components } from './components.ts';
import type { Evaluator } from './evaluator.ts';
import type { TrainEvent } from './events.ts';
import { loadState, saveState, type TrainerProgress } from './trainer-state.ts';

/** Puts a checkpoint in place: `write` fills the folder that it is given. Returns where it is. */
export type SaveCheckpoint = (
  write: (folder: string) => Promise<void>,
  about: { readonly step: number; readonly isBest: boolean },
) => Promise<string>;

/** What the loop itself remembers. */
export type LoopState = Omit<TrainerProgress, 'rewards' | 'convergence'>;

/** What must be the same for a run to go on exactly. */
export function runIdentity(
  config: PPOConfig,
  run: { shuffle: boolean; prompts: readonly unknown[]; totalSteps: number },
): Record<string, unknown> {
  const { shuffle, prompts, totalSteps } = run;
  return {
    ...config,
    shuffle,
    promptCount: prompts.length,
    ...(config.schedule !== 'constant' && { totalSteps }),
  };
}

interface CheckpointParts {
  readonly components: Components;
  readonly evaluator: Evaluator;
  readonly emit: (event: TrainEvent) => Promise<void>;
  readonly saveCheckpoint?: SaveCheckpoint | undefined;
}

/** Saves and loads all that has state: the loop, the models, rewards, convergence. */
export class LoopCheckpoints {
  private readonly parts: CheckpointParts;
  private readonly identity: Readonly<Record<string, unknown>>;
  private saved = { step: -1, isBest: false };

  constructor(parts: CheckpointParts, identity: Readonly<Record<string, unknown>>) {
    this.parts = parts;
    this.identity = identity;
  }

  has(step: number): boolean {
    return this.saved.step === step;
  }

  /** Saves a step once, and once more if it turns out to be the best. */
  async save(state: LoopState, isBest: boolean): Promise<void> {
    const { saveCheckpoint, components, evaluator, emit } = this.parts;
    const { step } = state;
    if (saveCheckpoint === undefined) return;
    if (this.has(step) && (this.saved.isBest || !isBest)) return;
    const rewards = components.rewardComputer.state();
    const convergence = evaluator.convergence.state();
    const write = (folder: string) =>
      saveState(folder, components, {
        progress: { ...state, rewards, convergence },
        identity: this.identity,
      });
    const folder = await saveCheckpoint(write, { step, isBest });
    this.saved = { step, isBest };
    await emit({ type: 'checkpoint', step, folder, isBest });
  }

  async load(folder: string): Promise<LoopState> {
    const { components, evaluator } = this.parts;
    const loaded = await loadState(folder, components, this.identity);
    const { rewards, convergence, ...state } = loaded;
    components.rewardComputer.restore(rewards);
    evaluator.convergence.restore(convergence);
    this.saved = { step: state.step, isBest: false };
    return state;
  }
}

import type { RunConfigOptions } from '../../src/config/run-config.ts';
import { createDemoFolder } from '../../src/demo/demo-folder.ts';
import { GOLD_POSTS, scoreBoth, writeConfig } from '../../src/demo/demo-run.ts';
import { compareGold } from '../../src/demo/gold-evaluation.ts';
import type { Metrics } from '../../src/loop/index.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { round } from '../measure.ts';

interface EmbeddedOptions {
  readonly seed: number;
  /** Folder of the run, which must not exist. */
  readonly path: string;
  /** Folder of the reward model. */
  readonly rewardModel: string;
  /** Settings that differ from the demo's. */
  readonly config: Partial<RunConfigOptions>;
}

/** Mean gold score before and after a run, and the mean KL per response in its last steps. */
export interface LearnedScores {
  readonly before: number;
  readonly after: number;
  readonly kl: number;
}

/** Trains the embedded model on the demo's task with other settings. */
export async function learnEmbedded(
  model: LoadedModel,
  { seed, path, rewardModel, config }: EmbeddedOptions,
): Promise<LearnedScores> {
  const folder = await createDemoFolder(path, { seed });
  const metrics: Metrics[] = [];
  const { modelFolder } = await trainRun(
    { ...writeConfig(folder, rewardModel), ...config },
    {
      loadModel: async () => model,
      onEvent: (event) => void (event.type === 'step' && metrics.push(event.metrics)),
    },
  );
  const scored = await scoreBoth(model, { seed, count: GOLD_POSTS, adapter: modelFolder! });
  const { before, after } = compareGold(...scored);
  return { before: round(before), after: round(after), kl: lastKl(metrics) };
}

const LAST_STEPS = 10;

/** Mean KL per response in the last ten steps: one step has too few responses to compare runs. */
export function lastKl(metrics: readonly Metrics[]): number {
  const last = metrics.slice(-LAST_STEPS).map((step) => step['objective/kl']!);
  return round(last.reduce((sum, kl) => sum + kl, 0) / last.length, 2);
}

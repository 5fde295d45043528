import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDemoFolder } from '../src/demo/demo-folder.ts';
import { trainDemoReward } from '../src/demo/demo-reward.ts';
import { GOLD_POSTS, scoreBoth, writeConfig } from '../src/demo/demo-run.ts';
import { compareGold } from '../src/demo/gold-evaluation.ts';
import { embeddedFolder } from '../src/embedded/embedded-files.ts';
import type { Metrics } from '../src/loop/index.ts';
import { type LoadedModel, loadModel } from '../src/models/index.ts';
import { trainRun } from '../src/run/train-run.ts';
import { learnStories } from './learning/stories.ts';
import { type BenchOptions, median, round } from './measure.ts';

/** One run with adapters on some of the layers. */
interface TrunkRun {
  readonly task: 'embedded' | 'stories15M';
  readonly seed: number;
  /** Number of upper layers with an adapter. */
  readonly layers: number;
  /** Mean gold score or sentiment, before and after. */
  readonly before: number;
  readonly after: number;
  /** Mean KL per response in the last step. */
  readonly kl: number;
  /** Medians. */
  readonly seconds_per_step: number;
  readonly seconds_without_rollout: number;
  /** Of a reward model with adapters on the same layers, on unseen pairs. */
  readonly reward_accuracy?: number;
}

/** Adapters on all layers, on half and on a quarter of them. */
const shares = [1, 1 / 2, 1 / 4];
const stories = fileURLToPath(new URL('../../shared/assets/stories15M-hf', import.meta.url));
const STORY_STEPS = 40;

/** What learning loses if only the upper layers have adapters, and what a step then costs. The runs of
 *  a seed alternate, so that a slow moment of the machine affects all of them. */
export async function benchTrunk({
  seeds = 1,
  storiesFolder = stories,
}: BenchOptions & { readonly storiesFolder?: string }): Promise<{ runs: readonly TrunkRun[] }> {
  const runs: TrunkRun[] = [];
  const add = (run: TrunkRun) => {
    console.error(JSON.stringify(run));
    runs.push(run);
  };
  for (let seed = 0; seed < seeds; seed++) {
    for await (const run of embeddedRuns(seed)) add(run);
    if (!existsSync(storiesFolder)) continue;
    for (const share of shares) add(await storyRun(storiesFolder, { seed, share }));
  }
  return { runs };
}

/** The demo's task. All runs use the reward model with adapters on all layers. */
async function* embeddedRuns(seed: number): AsyncGenerator<TrunkRun> {
  const path = mkdtempSync(join(tmpdir(), 'proximal-trunk-'));
  const model = await loadModel(embeddedFolder);
  const total = model.base.architecture.config.num_hidden_layers;
  try {
    let rewardModel: string | undefined;
    for (const share of shares) {
      const layers = layersOf(total, share);
      const loadEmbedded = async () => model;
      const reward = await trainDemoReward({
        ...{ seed, short: false, loraLayers: layers, loadModel: loadEmbedded },
        output: join(path, `reward-${layers}`),
      });
      rewardModel ??= reward!.model;
      const run = await embeddedRun(model, { seed, layers, path, rewardModel });
      yield { ...run, reward_accuracy: round(reward!.accuracy) };
    }
  } finally {
    rmSync(path, { recursive: true });
    await model.base.dispose();
  }
}

interface EmbeddedOptions {
  readonly seed: number;
  readonly layers: number;
  readonly path: string;
  readonly rewardModel: string;
}

async function embeddedRun(
  model: LoadedModel,
  { seed, layers, path, rewardModel }: EmbeddedOptions,
): Promise<TrunkRun> {
  const folder = await createDemoFolder(join(path, `ppo-${layers}`), { seed });
  const metrics: Metrics[] = [];
  const { modelFolder } = await trainRun(
    { ...writeConfig(folder, rewardModel), loraLayers: layers },
    {
      loadModel: async () => model,
      onEvent: (event) => void (event.type === 'step' && metrics.push(event.metrics)),
    },
  );
  const scored = await scoreBoth(model, { seed, count: GOLD_POSTS, adapter: modelFolder! });
  const { before, after } = compareGold(...scored);
  return {
    ...{ task: 'embedded', seed, layers, before: round(before), after: round(after) },
    ...describeSteps(metrics),
  };
}

async function storyRun(
  folder: string,
  { seed, share }: { readonly seed: number; readonly share: number },
): Promise<TrunkRun> {
  const { base } = await loadModel(folder);
  const layers = layersOf(base.architecture.config.num_hidden_layers, share);
  await base.dispose();
  const steps = { seed, loraLayers: layers, steps: STORY_STEPS };
  const { before, after, metrics } = await learnStories(folder, steps);
  return {
    ...{ task: 'stories15M', seed, layers },
    ...{ before: round(before.reward), after: round(after.reward) },
    ...describeSteps(metrics),
  };
}

function layersOf(total: number, share: number): number {
  return Math.max(1, Math.round(share * total));
}

function describeSteps(metrics: readonly Metrics[]) {
  const secondsOf = (...phases: readonly string[]) =>
    round(
      median(metrics.map((of) => phases.reduce((sum, name) => sum + of[`timing/${name}`]!, 0))),
    );
  return {
    kl: round(metrics.at(-1)!['objective/kl']!, 2),
    seconds_per_step: secondsOf('generate', 'score', 'update'),
    seconds_without_rollout: secondsOf('score', 'update'),
  };
}

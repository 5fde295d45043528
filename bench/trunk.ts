import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LoraAdapter } from '../src/base-setup/lora/lora-adapter.ts';
import { toLoraConfig } from '../src/base-setup/lora/lora-config.ts';
import { type PPOConfigOptions, resolvePPOConfig } from '../src/config/ppo-config.ts';
import { trainDemoReward } from '../src/demo/demo-reward.ts';
import { embeddedFolder } from '../src/embedded/embedded-files.ts';
import { makeSplitPost } from '../src/embedded/world/index.ts';
import { observeRuns } from '../src/engine/runtime/index.ts';
import { loadModel, RewardModel, randomHead } from '../src/models/index.ts';
import { PPOTrainer } from '../src/ppo-trainer/index.ts';
import { lastKl, learnEmbedded } from './learning/embedded.ts';
import { learnStories, openings } from './learning/stories.ts';
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
  /** Of a reward model with adapters on the same layers, on unseen pairs. */
  readonly reward_accuracy?: number;
}

/** One PPO step with adapters on some of the layers. */
interface StepCost {
  readonly task: TrunkRun['task'];
  readonly layers: number;
  /** Products of a whole step, including the rollout. */
  readonly gflop: number;
  /** Median of scoring and update. */
  readonly seconds: number;
  /** Median of the ratios to the step with adapters on all layers in the same round. */
  readonly time_ratio: number;
}

/** Rounds that are timed, after one that is not. */
const ROUNDS = 5;
/** Adapters on all layers, on half and on a quarter of them. */
const shares = [1, 1 / 2, 1 / 4];
const stories = fileURLToPath(new URL('../../shared/assets/stories15M-hf', import.meta.url));
const STORY_STEPS = 40;

/** What learning loses if only the upper layers have adapters, and what a step then costs. */
export async function benchTrunk({
  seeds = 1,
  storiesFolder = stories,
}: BenchOptions & { readonly storiesFolder?: string }): Promise<{
  steps: readonly StepCost[];
  runs: readonly TrunkRun[];
}> {
  const steps = await stepCosts(storiesFolder);
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
  return { steps, runs };
}

/** Costs of PPO steps with a reward model whose adapter is on the same layers. */
async function stepCosts(storiesFolder: string): Promise<StepCost[]> {
  const posts = Array.from({ length: 8 }, (_, number) => makeSplitPost('ppo', { seed: 0, number }));
  const embedded = await measureSteps(embeddedFolder, {
    prompts: posts.map(({ text }) => text),
    config: { samplesPerPrompt: 4, rolloutBatchSize: 32, miniBatchSize: 16, maxNewTokens: 48 },
  });
  const costs = embedded.map((cost) => ({ task: 'embedded', ...cost }) as const);
  if (!existsSync(storiesFolder)) return costs;
  const config = { maxNewTokens: 32, rolloutBatchSize: 16 };
  const cost = await measureSteps(storiesFolder, { prompts: openings, config });
  return [...costs, ...cost.map((one) => ({ task: 'stories15M', ...one }) as const)];
}

/** Steps of several trainers over one base, alternately, so that a slow moment of the machine affects
 *  all of them. */
async function measureSteps(
  folder: string,
  { prompts, config }: { readonly prompts: readonly string[]; readonly config: PPOConfigOptions },
): Promise<Omit<StepCost, 'task'>[]> {
  const model = await loadModel(folder);
  const { config: shape } = model.base.architecture;
  const costs = new Map<number, { flops: number; seconds: number[] }>();
  const trainers = shares.map((share) => {
    const loraLayers = layersOf(shape.num_hidden_layers, share);
    const options = { ...config, loraLayers, batchSize: prompts.length, ppoEpochs: 2 };
    const whole = resolvePPOConfig({ ...options, loraTargets: ['all-linear'] });
    const adapter = LoraAdapter.create(toLoraConfig(whole, shape), model.base.modules(), 'reward');
    const rewardModel = new RewardModel({ ...model, adapter, head: randomHead(shape.hidden_size) });
    costs.set(loraLayers, { flops: 0, seconds: [] });
    return { loraLayers, trainer: new PPOTrainer(whole, { model, rewardModel }) };
  });
  for (let step = 0; step <= ROUNDS; step++) {
    for (const { loraLayers, trainer } of trainers) {
      let flops = 0;
      const end = observeRuns((run) => {
        flops += run.flops;
      });
      const { metrics } = await trainer.ppoStep([...prompts], { step });
      end();
      const cost = costs.get(loraLayers)!;
      // Untrained policies generate the same texts in the first step, so its work compares exactly.
      if (step === 0) cost.flops = flops;
      else cost.seconds.push(metrics['timing/score']! + metrics['timing/update']!);
      console.error(`${folder}, ${loraLayers} layers, step ${step}: ${flops / 1e9} GFLOP`);
    }
  }
  await model.base.dispose();
  return [...costs].map(([layers, { flops, seconds }]) => ({
    ...{ layers, gflop: round(flops / 1e9, 1) },
    seconds: round(median(seconds)),
    time_ratio: round(
      median(seconds.map((one, i) => one / costs.get(trainers[0]!.loraLayers)!.seconds[i]!)),
    ),
  }));
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
      const scores = await learnEmbedded(model, {
        ...{ seed, rewardModel, path: join(path, `ppo-${layers}`) },
        config: { loraLayers: layers },
      });
      const reward_accuracy = round(reward!.accuracy);
      yield { task: 'embedded', seed, layers, ...scores, reward_accuracy };
    }
  } finally {
    rmSync(path, { recursive: true });
    await model.base.dispose();
  }
}

async function storyRun(
  folder: string,
  { seed, share }: { readonly seed: number; readonly share: number },
): Promise<TrunkRun> {
  const { base } = await loadModel(folder);
  const layers = layersOf(base.architecture.config.num_hidden_layers, share);
  await base.dispose();
  const steps = { seed, steps: STORY_STEPS, config: { loraLayers: layers } };
  const { before, after, metrics } = await learnStories(folder, steps);
  return {
    ...{ task: 'stories15M', seed, layers },
    ...{ before: round(before.reward), after: round(after.reward) },
    kl: lastKl(metrics),
  };
}

function layersOf(total: number, share: number): number {
  return Math.max(1, Math.round(share * total));
}

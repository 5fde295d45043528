import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readAdapter } from '../base-setup/index.ts';
import type { RunConfigOptions } from '../config/run-config.ts';
import { embeddedFolder } from '../embedded/embedded-files.ts';
import { makeSplitPost, type Split } from '../embedded/world/index.ts';
import type { Performance } from '../loop/evaluation-report.ts';
import type { TrainEvent } from '../loop/events.ts';
import { type LoadedModel, loadModel, PolicyModel } from '../models/index.ts';
import { trainRun } from '../run/train-run.ts';
import { type DemoReward, trainDemoReward } from './demo-reward.ts';
import {
  compareGold,
  type GoldComparison,
  type GoldOptions,
  type GoldSample,
  scoreSummaries,
} from './gold-evaluation.ts';

export type DemoStage = 'reward' | 'ppo' | 'gold';

export interface DemoOptions {
  readonly output: string;
  /** 0 by default. */
  readonly seed?: number | undefined;
  /** β of PPO; 0.1 by default. */
  readonly klCoef?: number | undefined;
  /** Fewer steps and posts, to check that everything works. */
  readonly short?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onStage?: ((stage: DemoStage) => void) | undefined;
  readonly onEvent?: ((stage: DemoStage, event: TrainEvent) => void | Promise<void>) | undefined;
}

/** What the demo measured. */
export interface DemoResult {
  readonly reward: DemoReward;
  readonly gold: GoldComparison;
  /** Validation by the reward model, before and after PPO. */
  readonly first: Performance;
  readonly last: Performance;
  readonly samples: readonly { before: GoldSample; after: GoldSample }[];
  readonly seconds: number;
  readonly folder: string;
}

/** Highest KL per token, in nats, at which the policy still counts as close to its reference. */
export const KL_BOUND = 0.5;

const MAX_NEW_TOKENS = 48;
/** Tokens in a typical summary. */
const TYPICAL_LENGTH = 24;
const GOLD_POSTS = 200;

/** Runs the whole pipeline on the embedded model: trains a reward model on preferences, runs PPO with
 *  it, and scores the result with the gold scorer, which training never sees. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { seed = 0, short = false, signal, onStage, onEvent } = options;
  const started = performance.now();
  const output = resolve(options.output);
  const model = await loadModel(embeddedFolder);
  mkdirSync(output, { recursive: true });
  onStage?.('reward');
  const reward = await trainDemoReward(model, {
    seed,
    folder: join(output, 'reward-model'),
    maxNewTokens: MAX_NEW_TOKENS,
    short,
    signal,
    onEvent: (event) => onEvent?.('reward', event),
  });
  signal?.throwIfAborted();
  onStage?.('ppo');
  const run = await trainRun(writeConfig(output, { seed, short, klCoef: options.klCoef }), {
    signal,
    loadModel: async () => model,
    onEvent: (event) => onEvent?.('ppo', event),
  });
  signal?.throwIfAborted();
  onStage?.('gold');
  const [before, after] = await scoreBoth(model, {
    seed,
    count: short ? 8 : GOLD_POSTS,
    adapter: run.modelFolder!,
    signal,
  });
  const { first, last } = run.evaluations!;
  await model.base.dispose();
  return {
    reward,
    gold: compareGold(before, after),
    first: first.report!.performance,
    last: last.report!.performance,
    samples: before.slice(0, 3).map((sample, i) => ({ before: sample, after: after[i]! })),
    seconds: (performance.now() - started) / 1000,
    folder: output,
  };
}

/** Writes the prompts and returns the config of the PPO run. */
function writeConfig(
  output: string,
  options: { seed: number; short: boolean; klCoef?: number | undefined },
) {
  const { seed, short, klCoef = 0.1 } = options;
  const write = (name: string, split: Split, { from, count }: { from: number; count: number }) => {
    const posts = Array.from({ length: count }, (_, i) =>
      makeSplitPost(split, { seed, number: from + i }),
    );
    const file = join(output, name);
    writeFileSync(file, posts.map(({ text }) => `${JSON.stringify({ prompt: text })}\n`).join(''));
    return file;
  };
  return {
    modelName: embeddedFolder,
    prompts: write('prompts.jsonl', 'ppo', { from: 0, count: 1600 }),
    validationFile: write('validation.jsonl', 'validation', {
      from: GOLD_POSTS,
      count: short ? 4 : 32,
    }),
    reward: [`model:${join(output, 'reward-model')}`],
    output: join(output, 'ppo'),
    seed,
    klCoef,
    maxNewTokens: MAX_NEW_TOKENS,
    batchSize: short ? 4 : 32,
    rolloutBatchSize: 32,
    ppoEpochs: 2,
    miniBatchSize: short ? 4 : 16,
    learningRate: 1e-3,
    valueLearningRate: 2e-3,
    missingEosPenalty: 1,
    gamma: 1,
    loraTargets: ['all-linear'],
    numEpochs: 1,
    maxSteps: short ? 2 : 32,
    evalInterval: 16,
    evalBestOf: 2,
    saveInterval: 0,
    maxKl: KL_BOUND * TYPICAL_LENGTH,
    stopOnCollapse: false,
  } satisfies RunConfigOptions;
}

async function scoreBoth(
  { base, tokenizer }: LoadedModel,
  { adapter, ...gold }: Omit<GoldOptions, 'maxNewTokens'> & { readonly adapter: string },
): Promise<[GoldSample[], GoldSample[]]> {
  const options = { ...gold, maxNewTokens: MAX_NEW_TOKENS };
  const reference = new PolicyModel({ base, tokenizer, batchSize: 32 });
  const before = await scoreSummaries(reference, options);
  await reference.dispose();
  const trained = await readAdapter(adapter, base.modules());
  const policy = new PolicyModel({ base, tokenizer, batchSize: 32, adapter: trained.adapter });
  const after = await scoreSummaries(policy, options);
  await policy.dispose();
  return [before, after];
}

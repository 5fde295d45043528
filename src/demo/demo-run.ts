import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAdapter } from '../base-setup/index.ts';
import type { RunConfigOptions } from '../config/run-config.ts';
import { embeddedFolder } from '../embedded/embedded-files.ts';
import { makeSplitPost, type Split } from '../embedded/world/index.ts';
import type { Performance } from '../loop/evaluation-report.ts';
import type { TrainEvent } from '../loop/events.ts';
import { type LoadedModel, loadModel, PolicyModel } from '../models/index.ts';
import { readRunStateIfIntact } from '../run/run-state.ts';
import { trainRun } from '../run/train-run.ts';
import type { DemoFolder } from './demo-folder.ts';
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
  /** The folder of the PPO run. */
  readonly run: string;
}

/** Highest KL per token, in nats, at which the policy still counts as close to its reference. */
export const KL_BOUND = 0.5;

const MAX_NEW_TOKENS = 48;
/** Tokens in a typical summary. */
const TYPICAL_LENGTH = 24;
export const GOLD_POSTS = 200;

/** Runs the whole pipeline on the embedded model: trains a reward model on preferences, runs PPO with
 *  it, and scores the result with the gold scorer, which training never sees. Continues the runs that
 *  the folder already contains. */
export async function runDemo(folder: DemoFolder, options: DemoOptions = {}): Promise<DemoResult> {
  const started = performance.now();
  const model = await loadModel(embeddedFolder);
  try {
    const result = await runStages(folder, { ...options, model });
    return { ...result, seconds: (performance.now() - started) / 1000 };
  } finally {
    await model.base.dispose();
  }
}

async function runStages(
  folder: DemoFolder,
  { model, signal, onStage, onEvent }: DemoOptions & { readonly model: LoadedModel },
): Promise<Omit<DemoResult, 'seconds'>> {
  const { path, seed, short } = folder;
  const start = async (stage: DemoStage) => {
    signal?.throwIfAborted();
    onStage?.(stage);
    return {
      resume: (await readRunStateIfIntact(join(path, stage))) !== undefined,
      signal,
      loadModel: async () => model,
      onEvent: (event: TrainEvent) => onEvent?.(stage, event),
    };
  };
  const output = join(path, 'reward');
  const reward = await trainDemoReward({ seed, short, output, ...(await start('reward')) });
  const ppo = await start('ppo');
  const run = await trainRun(writeConfig(folder, reward!.model), ppo);
  await start('gold');
  const [before, after] = await scoreBoth(model, {
    seed,
    count: short ? 8 : GOLD_POSTS,
    adapter: run.modelFolder!,
    signal,
  });
  const { first, model: saved } = run.evaluations!;
  return {
    reward: reward!,
    gold: compareGold(before, after),
    first: first.report!.performance,
    last: saved.report!.performance,
    samples: before.slice(0, 3).map((sample, i) => ({ before: sample, after: after[i]! })),
    folder: path,
    run: run.folder,
  };
}

/** Writes the prompts and returns the config of the PPO run. */
export function writeConfig({ path, seed, short, klCoef }: DemoFolder, rewardModel: string) {
  const write = (name: string, split: Split, { from, count }: { from: number; count: number }) => {
    const posts = Array.from({ length: count }, (_, i) =>
      makeSplitPost(split, { seed, number: from + i }),
    );
    const file = join(path, name);
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
    reward: [`model:${rewardModel}`],
    output: join(path, 'ppo'),
    seed,
    klCoef,
    maxNewTokens: MAX_NEW_TOKENS,
    batchSize: short ? 2 : 8,
    samplesPerPrompt: short ? 2 : 4,
    rolloutBatchSize: 32,
    ppoEpochs: 2,
    miniBatchSize: short ? 4 : 16,
    learningRate: 1e-3,
    valueLearningRate: 2e-3,
    missingEosPenalty: 1,
    gamma: 1,
    loraTargets: ['all-linear'],
    numEpochs: 1,
    maxSteps: short ? 2 : 20,
    evalInterval: 10,
    evalBestOf: 2,
    saveInterval: 0,
    maxKl: KL_BOUND * TYPICAL_LENGTH,
    stopOnCollapse: false,
  } satisfies RunConfigOptions;
}

/** Gold scores of the embedded model's summaries of the same posts, without and with an adapter. */
export async function scoreBoth(
  { base, tokenizer }: LoadedModel,
  { adapter, ...gold }: Omit<GoldOptions, 'maxNewTokens'> & { readonly adapter: string },
): Promise<[GoldSample[], GoldSample[]]> {
  const options = { ...gold, maxNewTokens: MAX_NEW_TOKENS };
  const reference = new PolicyModel({ base, tokenizer, batchSize: 32 });
  const before = await scoreSummaries(reference, options);
  await reference.dispose();
  const trained = await readAdapter(adapter, base);
  const policy = new PolicyModel({ base, tokenizer, batchSize: 32, adapter: trained.adapter });
  const after = await scoreSummaries(policy, options);
  await policy.dispose();
  return [before, after];
}

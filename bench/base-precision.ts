import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { trainDemoReward } from '../src/demo/demo-reward.ts';
import { embeddedFolder } from '../src/embedded/embedded-files.ts';
import type { ByteFormat } from '../src/engine/graph/index.ts';
import { byteLimit } from '../src/engine/runtime/index.ts';
import type { BasePrecision } from '../src/models/decoder/base-model.ts';
import { forward } from '../src/models/decoder/forward.ts';
import { PackedBatch } from '../src/models/decoder/packed-batch.ts';
import { orderedWeights, quantizeBase } from '../src/models/decoder/quantize-base.ts';
import { takeRows } from '../src/models/decoder/rows.ts';
import { type BaseModel, loadModel } from '../src/models/index.ts';
import { type LearnedScores, lastKl, learnEmbedded } from './learning/embedded.ts';
import { learnStories } from './learning/stories.ts';
import { type BenchOptions, round } from './measure.ts';

const assets = new URL('../../shared/assets/', import.meta.url);
const storiesModel = fileURLToPath(new URL('stories15M-hf', assets));
const storyTexts = fileURLToPath(new URL('tinystories-sample/tinystories.txt', assets));
const STORIES = 60;
const MAX_TOKENS = 200;

/** What one base says about each token of some texts. */
interface TokenReadings {
  readonly logprobs: number[];
  /** The most likely next token. */
  readonly best: number[];
}

/** How close a base in bytes is to its original, on real stories. */
interface Fidelity {
  readonly rows: ByteFormat['rows'];
  readonly tokens: number;
  readonly perplexity: number;
  readonly original_perplexity: number;
  readonly perplexity_increase_percent: number;
  readonly top1_agreement: number;
  /** |log π_int8 − log π_f32| per token, in nats. */
  readonly logprob_difference: { readonly mean: number; readonly p99: number };
}

/** One PPO run over a base of some precision. */
interface PrecisionRun extends LearnedScores {
  readonly task: 'embedded' | 'stories15M';
  readonly seed: number;
  readonly base_precision: BasePrecision;
}

const precisions = ['f32', 'int8'] as const;
/** stories15M is slower to train than the embedded model. */
const MAX_STORY_SEEDS = 6;
const STORY_STEPS = 40;

/** How close a base in bytes is to its original, and what PPO learns over each. */
export async function benchBasePrecision({ seeds = 1 }: BenchOptions): Promise<object> {
  const fidelity = await compareFidelity();
  const runs: PrecisionRun[] = [];
  for (let seed = 0; seed < seeds; seed++) {
    for await (const run of embeddedRuns(seed)) runs.push(run);
    for (const base_precision of seed < MAX_STORY_SEEDS ? precisions : []) {
      const config = { basePrecision: base_precision };
      const learned = await learnStories(storiesModel, { seed, steps: STORY_STEPS, config });
      const [before, after] = [round(learned.before.reward), round(learned.after.reward)];
      const kl = lastKl(learned.metrics);
      runs.push({ task: 'stories15M', seed, base_precision, before, after, kl });
      console.error(JSON.stringify(runs.at(-1)));
    }
  }
  return { fidelity, runs };
}

/** The demo's task: the reward model has the precision of the run, too. */
async function* embeddedRuns(seed: number): AsyncGenerator<PrecisionRun> {
  const path = mkdtempSync(join(tmpdir(), 'proximal-precision-'));
  try {
    for (const base_precision of precisions) {
      const model = await loadModel(embeddedFolder, { basePrecision: base_precision });
      const reward = await trainDemoReward({
        ...{ seed, short: false, output: join(path, `reward-${base_precision}`) },
        loadModel: async () => model,
      });
      const scores = await learnEmbedded(model, {
        ...{ seed, rewardModel: reward!.model, path: join(path, `ppo-${base_precision}`) },
        config: { basePrecision: base_precision },
      });
      await model.base.dispose();
      const run: PrecisionRun = { task: 'embedded', seed, base_precision, ...scores };
      console.error(JSON.stringify(run));
      yield run;
    }
  } finally {
    rmSync(path, { recursive: true });
  }
}

/** Compares stories15M in bytes with its original, for each way to multiply bytes. */
async function compareFidelity(): Promise<readonly Fidelity[]> {
  if (!existsSync(storiesModel)) {
    throw new Error(
      `Cannot measure base-precision: ${storiesModel} must exist, got no such folder`,
    );
  }
  const { base, tokenizer } = await loadModel(storiesModel);
  const texts = readFileSync(storyTexts, 'utf8')
    .split(/<\|endoftext\|>|\n{2,}(?=Once|One)/)
    .map((text) => text.trim())
    .filter((text) => text.length > 200)
    .slice(0, STORIES)
    .map((text) => tokenizer.encode(text).slice(0, MAX_TOKENS));
  const original = await readTokens(base, texts);
  const maxByte = await byteLimit();
  const formats: ByteFormat[] = [
    { rows: 'float32', maxByte },
    { rows: 'two-byte', maxByte },
  ];
  const results: Fidelity[] = [];
  for (const format of formats) {
    const bytes = await quantizeBase(base.architecture, orderedWeights(base), { format });
    results.push(compare(original, await readTokens(bytes, texts), format));
    await bytes.dispose();
    console.error(JSON.stringify(results.at(-1)));
  }
  await base.dispose();
  return results;
}

async function readTokens(base: BaseModel, texts: readonly Int32Array[]): Promise<TokenReadings> {
  const readings: TokenReadings = { logprobs: [], best: [] };
  for (const ids of texts) {
    const { hidden } = await forward({ base }, new PackedBatch([ids]));
    const states = takeRows(
      hidden,
      Array.from({ length: ids.length - 1 }, (_, t) => t),
    );
    const { logprobs } = await base.logprobs(states, ids.slice(1));
    readings.logprobs.push(...logprobs);
    const { data, shape } = await base.logits(states);
    for (let row = 0; row < shape[0]!; row++) {
      const logits = data.subarray(row * shape[1]!, (row + 1) * shape[1]!);
      readings.best.push(logits.indexOf(logits.reduce((a, b) => Math.max(a, b))));
    }
  }
  return readings;
}

function compare(original: TokenReadings, bytes: TokenReadings, { rows }: ByteFormat): Fidelity {
  const tokens = original.logprobs.length;
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const perplexity = Math.exp(-mean(bytes.logprobs));
  const originalPerplexity = Math.exp(-mean(original.logprobs));
  const differences = original.logprobs.map((x, i) => Math.abs(x - bytes.logprobs[i]!));
  const sorted = differences.toSorted((a, b) => a - b);
  return {
    ...{ rows, tokens, perplexity: round(perplexity, 4) },
    original_perplexity: round(originalPerplexity, 4),
    perplexity_increase_percent: round(100 * (perplexity / originalPerplexity - 1), 3),
    top1_agreement: round(mean(original.best.map((id, i) => Number(id === bytes.best[i]))), 4),
    logprob_difference: {
      mean: round(mean(differences), 5),
      p99: round(sorted[Math.floor(0.99 * tokens)]!, 5),
    },
  };
}

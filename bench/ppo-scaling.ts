import { availableParallelism } from 'node:os';
import { round } from './measure.ts';
import { startCase } from './ppo-step/case-process.ts';
import type { CaseRequest } from './ppo-step/cases.ts';

/** A quarter of Qwen3-0.6B's layers: curves need many runs. */
const middle: CaseRequest = {
  ...{ prompts: [64, 64, 64, 64], samples: 1, maxNewTokens: 32, epochs: 1 },
  ...{ threads: availableParallelism(), precision: 'int8', layers: 7 },
};

const repeatLength = (count: number, length: number) => Array.from({ length: count }, () => length);

/** The setting that changes along each curve. */
const curves: Readonly<Record<string, readonly (readonly [number, Partial<CaseRequest>])[]>> = {
  batch: [1, 2, 4, 8, 16].map((count) => [count, { prompts: repeatLength(count, 64) }]),
  prompt_tokens: [64, 256, 1024].map((length) => [length, { prompts: repeatLength(4, length) }]),
  response_tokens: [16, 64, 256].map((length) => [length, { maxNewTokens: length }]),
  layers: [7, 14, 28].map((layers) => [layers, { layers }]),
  threads: [1, availableParallelism()].map((threads) => [threads, { threads }]),
};

/** Long texts on the whole model, one at a time: memory must stay bounded. */
const long: Readonly<Record<string, Partial<CaseRequest>>> = {
  response_1024: { prompts: [64], maxNewTokens: 1024 },
  prompt_2048: { prompts: [2048], maxNewTokens: 32 },
};

interface Point {
  readonly at: number;
  readonly seconds: number;
  readonly ms_per_token: number;
  readonly peak_rss_mb: number;
}

/** How the time and memory of a PPO update grow with its sizes. */
export async function benchPpoScaling(): Promise<object> {
  const measured: Record<string, Point[]> = {};
  for (const [name, points] of Object.entries(curves)) {
    measured[name] = [];
    for (const [at, change] of points) {
      measured[name].push(await measurePoint(at, { ...middle, ...change }));
    }
  }
  const whole: Record<string, Point> = {};
  for (const [name, change] of Object.entries(long)) {
    const config = { saveActivations: 'none', keepPasses: false } as const;
    const request = { ...middle, layers: 28, config, ...change };
    whole[name] = await measurePoint(request.prompts[0]! + request.maxNewTokens, request);
  }
  return { curves: measured, long: whole };
}

async function measurePoint(at: number, request: CaseRequest): Promise<Point> {
  const own = await startCase(request);
  const { seconds } = await own.update();
  const { peak_rss_mb, responses } = await own.finish();
  const tokens = responses.reduce((sum, length, i) => sum + length + request.prompts[i]!, 0);
  const point = {
    at,
    seconds: round(seconds, 2),
    ms_per_token: round((1000 * seconds) / tokens, 2),
    peak_rss_mb,
  };
  console.error(JSON.stringify(point));
  return point;
}

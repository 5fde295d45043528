import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type {
  EvaluationRow,
  LogRow,
  RunStatus,
  TokenColumns,
  TurnRecord,
  WorkersState,
} from '../../src/dashboard/api.ts';

/** Hostile texts: markup, terminal escapes, and characters that JSON and HTML must escape. */
export const hostileTexts = [
  '<script>window.hacked = true</script>',
  '<img src=x onerror="window.hacked = true">',
  '</script><svg onload="window.hacked = true">',
  '\u001b[2J\u001b]0;hacked\u0007\u001b[31mred',
  '"\'`\\ \u2028\u2029 \u202eright to left \0 end',
  '{{constructor.constructor("hacked")()}} javascript:alert(1)',
] as const;

export interface FakeRunOptions {
  /** `ppo` by default. */
  readonly kind?: 'ppo' | 'sft' | 'reward';
  /** `completed` by default; an active run belongs to this process. */
  readonly status?: RunStatus;
  /** Rows of `metrics.jsonl`; 10 by default. */
  readonly steps?: number;
  readonly totalSteps?: number;
  /** Lines of `samples.jsonl`; 2 per step by default. */
  readonly samples?: number;
  /** Lines of `tokens.jsonl`, of the first samples; all by default. */
  readonly tokens?: number;
  /** Number of additional metrics; none by default. */
  readonly moreColumns?: number;
  /** Lines of `evaluations.jsonl`; 2 by default. */
  readonly evaluations?: number;
  readonly startedAt?: string;
  readonly message?: string;
  /** Contents of `workers.json`; no file by default. */
  readonly workers?: WorkersState;
  /** Whether responses are conversations with tools; false by default. */
  readonly tools?: boolean;
  /** Additional config keys. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Writes the folder of a fake run. Metrics are waves over the steps, the texts of the first samples
 *  are hostile, and prompts repeat every 20 samples. */
export function writeFakeRun(folder: string, options: FakeRunOptions = {}): void {
  const { kind = 'ppo', status = 'completed', steps = 10, totalSteps = steps } = options;
  const { samples = kind === 'ppo' ? 2 * steps : 0, tokens = samples, moreColumns = 0 } = options;
  const { startedAt = '2026-01-31T12:00:00.000Z', message, evaluations = 2 } = options;
  mkdirSync(folder, { recursive: true });
  const isActive = ['running', 'paused', 'waiting'].includes(status);
  writeJson(join(folder, 'config.json'), { ...configs[kind], seed: 0, ...options.config });
  const lines = (name: string, count: number, make: (i: number) => object) =>
    appendFakeRows(
      join(folder, name),
      Array.from({ length: count }, (_, i) => make(i)),
    );
  for (let from = 0; from < steps; from += CHUNK) {
    const count = Math.min(CHUNK, steps - from);
    lines('metrics.jsonl', count, (i) => ({
      ...fakeMetrics(from + i + 1, moreColumns),
      ...(options.tools && { 'episodes/turns': 2, 'tools/calls': 2, 'tools/valid_calls': 0.5 }),
    }));
  }
  const perStep = Math.max(1, Math.ceil(samples / Math.max(1, steps)));
  lines('samples.jsonl', samples, (i) => ({
    ...fakeSample(i, perStep),
    ...(options.tools && { turns: fakeTurns(i) }),
  }));
  lines('tokens.jsonl', tokens, (i) => ({
    ...fakeTokens(i, perStep),
    ...(options.tools && { observations: [{ at: 2, text: '<tool_response>4</tool_response>' }] }),
  }));
  lines('evaluations.jsonl', evaluations, (i) => fakeEvaluation(i === 0 ? 0 : steps, kind));
  lines('log.jsonl', 3, (i) => fakeLog(steps)[i]!);
  if (options.workers) writeJson(join(folder, 'workers.json'), options.workers);
  const common = { version: '0.1.0', pid: process.pid, startedAt, step: steps, totalSteps, status };
  if (isActive)
    writeJson(join(folder, 'run.lock'), { pid: process.pid, host: hostname(), id: 'a' });
  writeJson(join(folder, 'run.json'), { ...common, ...(message !== undefined && { message }) });
}

/** Appends lines to a log, as an active run does. */
export function appendFakeRows(path: string, rows: readonly object[]): void {
  appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

/** A line of `metrics.jsonl`. */
export function fakeMetrics(
  step: number,
  moreColumns = 0,
): { step: number; [name: string]: number } {
  const more = Array.from({ length: moreColumns }, (_, i) => [`more/${i}`, wave(step, i + 5)]);
  return {
    step,
    epoch: 0,
    'objective/scores': wave(step, 7) + step / 1000,
    'objective/kl': Math.abs(wave(step, 11)),
    'objective/kl_coef': 0.1,
    'objective/entropy': 20 + wave(step, 13),
    'loss/policy_avg': wave(step, 17) / 10,
    'loss/value_avg': Math.abs(wave(step, 19)),
    'policy/clipfrac_avg': Math.abs(wave(step, 23)) / 10,
    'val/ratio': 1 + wave(step, 29) / 100,
    'ppo/val/var_explained': wave(step, 31),
    'completions/mean_length': 24 + wave(step, 37),
    'rewards/gold/mean': wave(step, 7),
    'timing/generate': 1,
    'timing/score': 0.25,
    'timing/update': 0.75,
    'perf/tokens_per_second': 500 + wave(step, 41),
    ...Object.fromEntries(more),
  };
}

/** A line of `samples.jsonl`. */
export function fakeSample(index: number, perStep = 2) {
  const prompt = index % 20;
  const hostile = hostileTexts[index % hostileTexts.length]!;
  return {
    step: Math.floor(index / perStep) + 1,
    promptIdx: prompt,
    sample: 0,
    prompt: `Prompt ${prompt}: ${prompt < 6 ? hostileTexts[prompt] : 'Where is the Cat?'}`,
    response: ` ${index < 12 ? hostile : `Answer number ${index} of many.`}`,
    score: wave(index, 7),
    sourceScores: { gold: wave(index, 7), brevity: index / 100 },
    kl: Math.abs(wave(index, 11)),
    length: 4,
    finished: index % 3 !== 0,
  };
}

/** Two turns with tool calls: of every third sample the second call fails, with a hostile text. */
function fakeTurns(index: number): readonly TurnRecord[] {
  const hostile = hostileTexts[index % hostileTexts.length]!;
  const failed = { tool: 'search', input: { query: hostile }, output: hostile, error: 'timeout' };
  const second =
    index % 3 === 0 ? failed : { tool: 'search', input: { query: 'cat' }, output: 'a cat' };
  return [
    {
      text: `<tool_call>add and search, sample ${index}</tool_call>`,
      reward: 0.25,
      calls: [
        { tool: 'add', input: { a: 1, b: 3 }, output: '4', seconds: 0.001 },
        { ...second, seconds: 2.5 },
      ],
      answers: [],
    },
    {
      text: `The answer is 4, sample ${index}.`,
      calls: [],
      answers: [{ role: 'user', text: 'Thanks!' }],
    },
  ];
}

/** A line of `tokens.jsonl`: 4 tokens with γ = 1 and λ = ½, so that A_t = δ_t + ½A_{t+1}. */
export function fakeTokens(index: number, perStep = 2): TokenColumns {
  const { step, promptIdx, sample, prompt, score } = fakeSample(index, perStep);
  const rewards = [0, 0, 0, score];
  const values = [0.5, 0.25, 0.25, 0.5];
  const advantages = [0, 0, 0, 0];
  for (let t = 3; t >= 0; t--) {
    advantages[t] =
      rewards[t]! + (values[t + 1] ?? 0) - values[t]! + 0.5 * (advantages[t + 1] ?? 0);
  }
  return {
    step,
    promptIdx,
    sample,
    prompt,
    ids: [11, 12, 13, 0],
    texts: [' <b>', 'An', 'swer', ''],
    logprobs: [-1, -0.5, -0.25, -2],
    refLogprobs: [-1.5, -0.5, -0.5, -1],
    kl: [0.5, 0, 0.25, -1],
    rewards,
    values,
    advantages,
    returns: advantages.map((advantage, t) => advantage + values[t]!),
    entropies: [2, 1, 0.5, 1.5],
    ratios: [1, 1.1, 0.9, null],
    alternatives: [11, 12, 13, 0].map((id) => ({
      ids: [id, id + 1],
      texts: ['a', hostileTexts[0]],
      logprobs: [-0.5, -1.5],
    })),
    gamma: 1,
    lambda: 0.5,
    klCoef: 0.1,
    whitening: null,
  };
}

/** Lines written at a time. */
const CHUNK = 1000;

const configs = {
  ppo: { modelName: 'tiny', prompts: 'prompts.jsonl', learningRate: 1e-5, klCoef: 0.1 },
  sft: { modelName: 'tiny', data: 'texts.jsonl', fullParameters: false, learningRate: 1e-4 },
  reward: { modelName: 'tiny', data: 'pairs.jsonl', chosenColumn: 'chosen', learningRate: 1e-4 },
};

function fakeEvaluation(step: number, kind: keyof typeof configs): EvaluationRow {
  if (kind !== 'ppo') return { step, 'eval/loss': 1 / (step + 1), 'eval/accuracy': 0.75 };
  const reward = step / 1000;
  return {
    step,
    performance: {
      ...{ greedyReward: reward, reward, rewardStd: 0.5, responses: 8, bestOfN: reward + 1 },
      ...{
        prompts: 4,
        rewardInterval: [reward - 0.25, reward + 0.25],
        winRateInterval: [0.3, 0.95],
      },
      ...{ winRate: step === 0 ? 0.5 : 0.75, kl: 0.25, entropy: 1.5, length: 24, repetition: 0.1 },
      explainedVariance: 0.5,
    },
    convergence: {
      converged: false,
      performanceImproved: step > 0,
      message: 'Training continues',
    },
    samples: [{ ...fakeSample(0), step, refResponse: hostileTexts[1], refScore: 0 }],
  };
}

function fakeLog(steps: number): readonly LogRow[] {
  const time = '2026-01-31T12:00:00.000Z';
  return [
    { time, step: 0, type: 'start', message: `${steps} steps` },
    { time, step: 1, type: 'warning', message: `A warning ${hostileTexts[0]}` },
    { time, step: steps, type: 'end', message: 'All steps are done' },
  ];
}

function wave(i: number, period: number): number {
  return Math.sin((2 * Math.PI * i) / (period + 0.1));
}

function writeJson(path: string, value: object): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

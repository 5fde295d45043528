import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FunctionSource, loadRewardFile, type RewardSample } from '../src/reward-kl/index.ts';
import { median, round, timeAlternately } from './measure.ts';

const BATCH = 16;
const ROUNDS = 2000;
const TOKENS = 24;

/** Milliseconds per batch of a trivial reward in the main thread and in the thread of a reward file. */
export async function benchRewardThread(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-bench-'));
  const file = join(folder, 'reward.js');
  writeFileSync(file, 'export default ({ response }) => response.length;');
  const [loaded] = await loadRewardFile(file);
  const inThread = loaded!.source;
  const inProcess = new FunctionSource(({ response }) => response.length);
  const { signal } = new AbortController();
  const samples = Array.from({ length: BATCH }, (_, i) => makeSample(i));
  try {
    const times = await timeAlternately(
      {
        inProcess: async () => inProcess.score(samples, { signal }),
        inThread: async () => inThread.score(samples, { signal }),
      },
      { rounds: ROUNDS, warmup: 200 },
    );
    const overheads = times.inThread.map((thread, i) => thread - times.inProcess[i]!);
    return {
      ...{ batch: BATCH, tokens: TOKENS, rounds: ROUNDS },
      inProcessMs: round(median(times.inProcess)),
      inThreadMs: round(median(times.inThread)),
      overheadMs: round(median(overheads)),
    };
  } finally {
    inThread.dispose?.();
    rmSync(folder, { recursive: true });
  }
}

function makeSample(promptIdx: number): RewardSample {
  return {
    prompt: 'Tell me about the weather in spring',
    response: 'It is mild, with rain in the morning and sun in the afternoon.',
    promptTokens: Int32Array.from({ length: 8 }, (_, i) => i),
    tokens: Int32Array.from({ length: TOKENS }, (_, i) => i),
    finished: true,
    promptIdx,
    sample: 0,
  };
}

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RolloutPrecision } from '../src/generation/decode-weights.ts';
import type { PeerName } from './peer.ts';
import type { CaseName, CaseRequest, LoraLayers } from './ppo-step/cases.ts';

export interface BenchOptions {
  /** Python that runs the peers; no peer if missing. */
  readonly python?: string | undefined;
  /** For benchmarks with several peers: which of them; all that are installed if missing. */
  readonly peers?: readonly PeerName[] | undefined;
  /** For benchmarks that alternate with peers: measured updates of each. */
  readonly rounds?: number | undefined;
  /** Whether another process keeps one core busy during the measured updates. */
  readonly contended?: boolean | undefined;
  /** Whether updates wait until other processes rest, and disturbed ones are repeated. */
  readonly quiet?: boolean | undefined;
  /** Number of runs, for benchmarks that train. */
  readonly seeds?: number;
  /** For `ppo-step`: which case; all if missing. */
  readonly case?: CaseName | undefined;
  /** For `ppo-step`: the rollout precision. */
  readonly precision?: RolloutPrecision | undefined;
  /** For `ppo-step`: the precision of the base's weights. */
  readonly basePrecision?: CaseRequest['basePrecision'];
  /** For `ppo-step`: which layers have adapters; all if missing. */
  readonly loraLayers?: LoraLayers | undefined;
  /** For `ppo-step`: which Qwen3 model; 0.6B if missing. */
  readonly size?: CaseRequest['size'];
}

/** Milliseconds of one awaited call. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}

/**
 * Times several functions alternately, so that a slow moment of the machine affects all of them.
 * Returns the milliseconds of each, per round.
 */
export async function timeAlternately<K extends string>(
  works: Readonly<Record<K, () => Promise<unknown>>>,
  { rounds, warmup = 2 }: { rounds: number; warmup?: number },
): Promise<Record<K, number[]>> {
  const names = Object.keys(works) as K[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<
    K,
    number[]
  >;
  for (let round = -warmup; round < rounds; round++) {
    for (const name of names) {
      const elapsed = await time(works[name]);
      if (round >= 0) times[name].push(elapsed);
    }
  }
  return times;
}

/** Resident memory in MB after a full garbage collection. */
export function residentMegabytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage.rss() / 2 ** 20;
}

export function round(value: number, digits = 3): number {
  return Number(value.toFixed(digits));
}

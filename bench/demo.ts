import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDemoFolder } from '../src/demo/demo-folder.ts';
import { type DemoResult, runDemo } from '../src/demo/demo-run.ts';
import { round } from './measure.ts';

interface DemoSeed {
  readonly gold_before: number;
  readonly gold_after: number;
  readonly win_rate: number;
  /** Lower end of the 95 % confidence interval of the mean difference. */
  readonly ci_low: number;
  /** Nats per token, at the end. */
  readonly kl: number;
  readonly accuracy: number;
  readonly length_accuracy: number;
  readonly seconds: number;
}

/** Runs the demo with several seeds. */
export async function benchDemo({ seeds = 1 }: { seeds?: number } = {}): Promise<{
  seeds: readonly DemoSeed[];
}> {
  const results: DemoSeed[] = [];
  for (let seed = 0; seed < seeds; seed++) {
    const result = describe(await runInTempFolder({ seed }));
    console.error(`seed ${seed}: ${JSON.stringify(result)}`);
    results.push(result);
  }
  return { seeds: results };
}

/** Learned reward and gold score, with and without the KL penalty. */
export async function benchOveroptimisation() {
  const runs: Record<string, object> = {};
  for (const [name, settings] of [
    ['with_kl', {}],
    ['without_kl', { klCoef: 0 }],
  ] as const) {
    const result = await runInTempFolder({ seed: 0, ...settings });
    const { first, last } = result;
    runs[name] = {
      reward_before: round(first.reward, 3),
      reward_after: round(last.reward, 3),
      ...describe(result),
    };
    console.error(`${name}: ${JSON.stringify(runs[name])}`);
  }
  return runs;
}

async function runInTempFolder(options: { seed: number; klCoef?: number }): Promise<DemoResult> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-demo-'));
  try {
    return await runDemo(await createDemoFolder(folder, options));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function describe({ gold, reward, last, seconds }: DemoResult): DemoSeed {
  return {
    gold_before: round(gold.before, 3),
    gold_after: round(gold.after, 3),
    win_rate: round(gold.winRate, 3),
    ci_low: round(gold.low, 3),
    kl: round(last.kl / last.length, 3),
    accuracy: round(reward.accuracy, 3),
    length_accuracy: round(reward.lengthAccuracy, 3),
    seconds: round(seconds, 1),
  };
}

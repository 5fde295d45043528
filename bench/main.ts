import { parseArgs } from 'node:util';
import { benchBlock } from './block.ts';
import { benchDashboard } from './dashboard.ts';
import { benchDecode } from './decode.ts';
import { benchDemo, benchOveroptimisation } from './demo.ts';
import { benchDemoProfile } from './demo-profile.ts';
import { benchLearning, benchNormalization, learningTable } from './learning.ts';
import type { BenchOptions } from './measure.ts';
import { benchMemory } from './memory.ts';
import { benchPpoScaling } from './ppo-scaling.ts';
import { benchPpoStep } from './ppo-step.ts';
import { benchPrefill } from './prefill.ts';
import { benchRewardThread } from './reward-thread.ts';
import { benchSteady } from './steady.ts';
import { benchTrunk } from './trunk.ts';

interface Benchmark {
  /** Returns the numbers as one JSON object; prints nothing to stdout. */
  readonly run: (options: BenchOptions) => Promise<object>;
  /** Formats the numbers for people. */
  readonly show: (result: object) => string;
}

const benchmarks: Readonly<Record<string, Benchmark>> = {
  block: benchmark(benchBlock),
  decode: benchmark(benchDecode),
  prefill: benchmark(benchPrefill),
  memory: benchmark(benchMemory),
  learning: benchmark(benchLearning, learningTable),
  normalization: benchmark(benchNormalization),
  demo: benchmark(benchDemo),
  overoptimisation: benchmark(benchOveroptimisation),
  dashboard: benchmark(benchDashboard),
  'demo-profile': benchmark(benchDemoProfile),
  steady: benchmark(benchSteady),
  trunk: benchmark(benchTrunk),
  'reward-thread': benchmark(benchRewardThread),
  'ppo-step': benchmark(benchPpoStep),
  'ppo-scaling': benchmark(benchPpoScaling),
};

function benchmark<R extends object>(
  run: (options: BenchOptions) => Promise<R>,
  show: (result: R) => string = (result) => JSON.stringify(result, null, 2),
): Benchmark {
  return { run, show: (result) => show(result as R) };
}

/** `--peer` without a value uses python3 from the path. */
const args = process.argv.slice(2).flatMap((arg, i, all) => {
  const isAlone = all[i + 1]?.startsWith('--') ?? true;
  return arg === '--peer' && isAlone ? [arg, 'python3'] : [arg];
});
const { positionals, values } = parseArgs({
  args,
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    peer: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    case: { type: 'string' },
    precision: { type: 'string' },
  },
});
const name = positionals[0] ?? '';
const chosen = benchmarks[name];
if (chosen === undefined) {
  console.error(
    `Cannot run benchmark "${name}": the benchmarks are ${Object.keys(benchmarks).join(', ')}`,
  );
  process.exit(2);
}
const result = await chosen.run({ ...values, python: values.peer, seeds: Number(values.seeds) });
console.log(values.json ? JSON.stringify(result) : chosen.show(result));

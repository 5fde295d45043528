import { benchBackends } from './backends.ts';
import { benchBasePrecision } from './base-precision.ts';
import { benchBlock } from './block.ts';
import { benchDashboard } from './dashboard.ts';
import { benchDecode } from './decode.ts';
import { benchDemo, benchOveroptimisation } from './demo.ts';
import { benchDemoProfile } from './demo-profile.ts';
import { type BenchCommand, readFlags } from './flags.ts';
import { benchLearning, benchNormalization, learningTable } from './learning.ts';
import type { BenchOptions } from './measure.ts';
import { benchMemory } from './memory.ts';
import { benchPpoScaling } from './ppo-scaling.ts';
import { benchPpoStep } from './ppo-step.ts';
import { benchPrefill } from './prefill.ts';
import { nameProcessor } from './processor.ts';
import { benchRewardThread } from './reward-thread.ts';
import { benchScaleOut } from './scale-out.ts';
import { benchSmallUpdate } from './small-update.ts';
import { benchSteady } from './steady.ts';
import { benchTools } from './tools.ts';
import { benchTrunk } from './trunk.ts';

interface Benchmark {
  /** Returns the numbers as one JSON object; prints nothing to stdout. */
  readonly run: (options: BenchOptions) => Promise<object>;
  /** Formats the numbers for people. */
  readonly show: (result: object) => string;
}

const benchmarks: Readonly<Record<string, Benchmark>> = {
  backends: benchmark(benchBackends),
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
  tools: benchmark(benchTools),
  trunk: benchmark(benchTrunk),
  'base-precision': benchmark(benchBasePrecision),
  'reward-thread': benchmark(benchRewardThread),
  'ppo-step': benchmark(benchPpoStep),
  'ppo-scaling': benchmark(benchPpoScaling),
  'small-update': benchmark(benchSmallUpdate),
  'scale-out': benchmark(benchScaleOut),
};

function benchmark<R extends object>(
  run: (options: BenchOptions) => Promise<R>,
  show: (result: R) => string = (result) => JSON.stringify(result, null, 2),
): Benchmark {
  return { run, show: (result) => show(result as R) };
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

function readCommand(): BenchCommand {
  try {
    return readFlags(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return fail(error.message);
  }
}

const { name, json, options } = readCommand();
const chosen = benchmarks[name];
if (chosen === undefined) {
  fail(`Cannot run benchmark "${name}": the benchmarks are ${Object.keys(benchmarks).join(', ')}`);
}
const result = { ...(await chosen.run(options)), processor: nameProcessor() };
console.log(json ? JSON.stringify(result) : chosen.show(result));

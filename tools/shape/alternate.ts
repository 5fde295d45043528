/**
 * Runs a benchmark of two checkouts alternately and compares the medians, so that a slow moment of the
 * machine affects both. A ratio before/after above 1 means that the new checkout is faster.
 *
 *   npx tsx tools/shape/alternate.ts --before DIR --after DIR --bench block|ppo-step|demo [--rounds N]
 */
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { median } from '../../bench/measure.ts';

interface Bench {
  readonly args: readonly string[];
  /** Times in the benchmark's JSON, by their path there. */
  readonly times: readonly string[];
}

const LOWEST_RATIO = 0.97;

const benches: Readonly<Record<string, Bench>> = {
  block: {
    args: ['block'],
    times: ['forward_ms', 'backward_ms', 'forward_ms_t64', 'backward_ms_t64'],
  },
  'ppo-step': { args: ['ppo-step', '--case', 'default'], times: ['seconds'] },
  demo: { args: ['demo'], times: ['seeds.0.seconds'] },
};

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    after: { type: 'string' },
    bench: { type: 'string', default: 'block' },
    rounds: { type: 'string', default: '3' },
  },
});

const bench = benches[values.bench];
if (bench === undefined || values.before === undefined || values.after === undefined) {
  const names = Object.keys(benches).join('|');
  throw new Error(`Cannot compare benchmarks: pass --before DIR --after DIR --bench ${names}`);
}
const trees = { before: resolve(values.before), after: resolve(values.after) };
const results = { before: [] as object[], after: [] as object[] };
for (let round = 1; round <= Number(values.rounds); round++) {
  for (const side of ['before', 'after'] as const) {
    const result = run(trees[side], bench.args);
    console.error(`round ${round}, ${side}: ${JSON.stringify(result)}`);
    results[side].push(result);
  }
}
console.log(`\`bench ${bench.args.join(' ')}\` on ${cpus()[0]?.model}, ${cpus().length} cores\n`);
console.log('| time | before | after | median before / median after | all before | all after |');
console.log('| --- | ---: | ---: | ---: | --- | --- |');
for (const time of bench.times) {
  const [before, after] = [results.before, results.after].map((all) =>
    all.map((r) => pick(r, time)),
  );
  const [old, now] = [median(before!), median(after!)];
  const ratio = old / now;
  if (ratio < LOWEST_RATIO) process.exitCode = 1;
  const verdict = `${ratio.toFixed(3)}${ratio < LOWEST_RATIO ? ` (below ${LOWEST_RATIO})` : ''}`;
  console.log(
    `| ${[time, old, now, verdict, before!.join(', '), after!.join(', ')].join(' | ')} |`,
  );
}

function run(tree: string, args: readonly string[]): object {
  const command = ['--import', 'tsx', 'bench/main.ts', ...args, '--json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`Cannot run the benchmark in ${tree}: ${stderr}`);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

/** A number by its path, such as `seeds.0.seconds`. */
function pick(result: object, path: string): number {
  const value = path
    .split('.')
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], result);
  if (typeof value !== 'number') {
    throw new TypeError(`Cannot compare: the benchmark must report ${path}, got ${value}`);
  }
  return value;
}

import { parseArgs } from 'node:util';
import { benchBlock } from './block.ts';
import { benchDecode } from './decode.ts';
import type { BenchOptions } from './measure.ts';
import { benchMemory } from './memory.ts';
import { benchPrefill } from './prefill.ts';

/** A benchmark prints nothing itself: it returns the numbers, one JSON object. */
const benchmarks: Readonly<Record<string, (options: BenchOptions) => Promise<object>>> = {
  block: benchBlock,
  decode: benchDecode,
  prefill: benchPrefill,
  memory: benchMemory,
};

/** `--peer` alone means the python3 on the path. */
const args = process.argv.slice(2).flatMap((arg, i, all) => {
  const isAlone = all[i + 1]?.startsWith('--') ?? true;
  return arg === '--peer' && isAlone ? [arg, 'python3'] : [arg];
});
const { positionals, values } = parseArgs({
  args,
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, peer: { type: 'string' } },
});
const name = positionals[0] ?? '';
const benchmark = benchmarks[name];
if (benchmark === undefined) {
  console.error(
    `Cannot run benchmark "${name}": the benchmarks are ${Object.keys(benchmarks).join(', ')}`,
  );
  process.exit(2);
}
const result = await benchmark({ python: values.peer });
console.log(values.json ? JSON.stringify(result) : JSON.stringify(result, null, 2));

import { parseArgs } from 'node:util';
import { benchBlock } from './block.ts';
import { benchDecode } from './decode.ts';
import { benchMemory } from './memory.ts';
import { benchPrefill } from './prefill.ts';

/** A benchmark prints nothing itself: it returns the numbers, one JSON object. */
const benchmarks: Readonly<Record<string, () => Promise<object>>> = {
  block: benchBlock,
  decode: benchDecode,
  prefill: benchPrefill,
  memory: benchMemory,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
});
const name = positionals[0] ?? '';
const benchmark = benchmarks[name];
if (benchmark === undefined) {
  console.error(
    `Cannot run benchmark "${name}": the benchmarks are ${Object.keys(benchmarks).join(', ')}`,
  );
  process.exit(2);
}
const result = await benchmark();
console.log(values.json ? JSON.stringify(result) : JSON.stringify(result, null, 2));

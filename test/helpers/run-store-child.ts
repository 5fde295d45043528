import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Saves a checkpoint as the best, keeping one other, and kills itself with SIGKILL before the n-th call
 *  of a file-system function: `run-store-child.ts <folder> <step> <function> <n>`. */
const [folder, step, name, n] = process.argv.slice(2) as [string, string, string, string];

if (
  name === 'mkdir' ||
  name === 'open' ||
  name === 'rename' ||
  name === 'rm' ||
  name === 'writeFile'
) {
  const original = fs[name] as (...args: unknown[]) => Promise<unknown>;
  let calls = 0;
  const counted = (...args: unknown[]) => {
    if (++calls === Number(n)) process.kill(process.pid, 'SIGKILL');
    return original(...args);
  };
  Object.assign(fs, { [name]: counted });
  syncBuiltinESMExports();
}

const { CheckpointStore } = await import('../../src/loop/checkpoint-store.ts');
const { writeTestFiles } = await import('./run-test-files.ts');
await new CheckpointStore(folder, { keep: 1 }).save(
  Number(step),
  (to) => writeTestFiles(to, Number(step)),
  { isBest: true },
);

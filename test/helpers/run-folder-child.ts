import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { RunFolder } from '../../src/run/run-folder.ts';

/** Starts a run in a folder and kills itself with SIGKILL before the n-th call of a file-system function
 *  that changes something: `run-folder-child.ts <folder> <n>`. */
const [folder, n] = process.argv.slice(2) as [string, string];

let calls = 0;

/** Counts the calls of functions. */
function count(module: object, names: readonly string[]): void {
  for (const name of names) {
    const original: (...args: unknown[]) => unknown = Reflect.get(module, name);
    const counted = (...args: unknown[]) => {
      if (++calls === Number(n)) process.kill(process.pid, 'SIGKILL');
      return original(...args);
    };
    Object.assign(module, { [name]: counted });
  }
}

count(fs, ['openSync', 'writeSync', 'writeFileSync', 'renameSync', 'mkdirSync', 'rmSync']);
count(promises, ['open', 'rename', 'mkdir', 'rm']);
syncBuiltinESMExports();
await RunFolder.create(folder, { config: { seed: 1 }, keepCheckpoints: 1 });

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readInSandbox } from '../../src/data/file-rows.ts';
import { makeMutants } from './parquet-mutants.ts';
import { makeTempFolder } from './runtime-temp-folder.ts';

export interface FuzzResult {
  /** Number of files whose rows could be read. */
  readonly read: number;
  /** The errors of the others. */
  readonly errors: readonly string[];
  /** Number of promises of this process that were rejected and that nobody awaited. */
  readonly unhandled: number;
}

/** Reads damaged Parquet files in the sandbox. */
export async function fuzzParquet(count: number): Promise<FuzzResult> {
  let [read, unhandled] = [0, 0];
  const errors: string[] = [];
  const path = join(makeTempFolder(), 'p.parquet');
  const onUnhandled = () => {
    unhandled++;
  };
  process.on('unhandledRejection', onUnhandled);
  for (const bytes of makeMutants(count)) {
    writeFileSync(path, bytes);
    try {
      for await (const _ of readInSandbox({ path, name: 'p' }, { timeLimit: 1000 }));
      read++;
    } catch (error) {
      errors.push((error as Error).message);
    }
  }
  process.off('unhandledRejection', onUnhandled);
  return { read, errors, unhandled };
}

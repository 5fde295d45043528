import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckpointStore } from '../../src/loop/checkpoint-store.ts';

/** Bytes that differ by step. */
function bytesOf(step: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = step * 7 + i * 13;
  return bytes;
}

/** Fills a folder with files that depend on the step. */
export async function writeTestFiles(folder: string, step: number): Promise<void> {
  await mkdir(join(folder, 'policy'));
  await writeFile(join(folder, 'policy/adapter.bin'), bytesOf(step, 100_000));
  await writeFile(join(folder, 'trainer.json'), JSON.stringify({ step }));
}

/** Whether a folder contains everything that `writeTestFiles` writes. */
export async function hasTestFiles(folder: string, step: number): Promise<boolean> {
  const adapter = await readFile(join(folder, 'policy/adapter.bin'));
  const trainer = await readFile(join(folder, 'trainer.json'), 'utf8');
  return adapter.equals(bytesOf(step, 100_000)) && trainer === JSON.stringify({ step });
}

/** Saves these steps in order, those with `*` as the best. */
export async function saveTestCheckpoints(
  store: CheckpointStore,
  ...steps: readonly string[]
): Promise<void> {
  for (const text of steps) {
    const step = Number.parseInt(text, 10);
    const isBest = text.endsWith('*');
    await store.save(step, (folder) => writeTestFiles(folder, step), { isBest });
  }
}

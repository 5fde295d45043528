import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Mounts a disk of this size at a new folder until the test ends. Returns whether this process may: it
 *  needs root on Linux. */
export function mountDisk(path: string, size: string): boolean {
  if (process.platform !== 'linux') return false;
  mkdirSync(path);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
  if (status === 0) onTestFinished(() => void spawnSync('umount', [path]));
  return status === 0;
}

/** Fills a mounted disk. Returns a function that frees the space. */
export function fillDisk(path: string): () => void {
  const filler = join(path, 'filler');
  try {
    writeFileSync(filler, Buffer.alloc(2 ** 22));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
  return () => rmSync(filler);
}

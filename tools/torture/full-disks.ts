import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { randomStream } from '../../src/engine/random/index.ts';
import type { Arena, Attack } from './arena.ts';
import type { RunKind } from './run-kinds.ts';
import { type Ended, kindOf, lastLine, type Runs, type Twin } from './runs.ts';

/** Runs on a disk that becomes full, and resumes after space was freed. The disk is a small one in memory,
 *  if this process may mount it, or every write fails with ENOSPC from some operation on. */
export function fullDisks(
  arena: Arena,
  { runs, kinds }: { readonly runs: Runs; readonly kinds: readonly RunKind[] },
): Attack {
  return {
    ...{ name: 'full-disk', perHour: 165 },
    async attack(seed) {
      const random = randomStream('full disk', seed);
      const kind = kindOf(seed, kinds);
      const twin = await runs.twin(kind);
      const [isMounted, fraction] = [random.integer(2) === 0, random.next()];
      const disk = isMounted ? mountDisk(arena, { bytes: fraction * twin.bytes }) : undefined;
      const disturbed = disk ?? simulateDisk(arena, { twin, fraction });
      arena.counts.full_disks++;
      try {
        const problem = await fillAndResume(runs, kind, disturbed);
        if (problem === undefined) return;
        arena.fail(`full-disk/${seed}`, `${kind.name}, ${disturbed.name}: ${problem}`);
      } finally {
        disk?.unmount();
      }
    },
  };
}

interface FullDisk {
  readonly name: string;
  /** The run's folder. */
  readonly folder: string;
  readonly fullAt?: number;
  /** Makes enough space. */
  free(): void;
}

function simulateDisk(
  arena: Arena,
  { twin, fraction }: { readonly twin: Twin; readonly fraction: number },
): FullDisk {
  const fullAt = Math.floor(fraction * twin.operations.length);
  const name = `disk full from operation ${fullAt} of ${twin.operations.length}`;
  return { name, folder: arena.newPath('full'), fullAt, free: () => {} };
}

/** Mounts a disk of this size, rounded up to pages; undefined if this process may not. */
function mountDisk(
  arena: Arena,
  { bytes }: { readonly bytes: number },
): (FullDisk & { unmount(): void }) | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const path = arena.newPath('disk');
  const size = `${16 + Math.ceil(bytes / 1024)}k`;
  mkdirSync(path);
  const mount = (options: string) =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]).status === 0;
  if (!mount(`size=${size}`)) return undefined;
  let isMounted = true;
  const unmount = () => {
    if (isMounted) isMounted = spawnSync('umount', [path]).status !== 0;
  };
  arena.onClose(unmount);
  return {
    ...{ name: `disk of ${size}`, folder: join(path, 'run'), unmount },
    free: () => mount('remount,size=64m'),
  };
}

/** @returns what is wrong; undefined if nothing is */
async function fillAndResume(
  runs: Runs,
  kind: RunKind,
  { folder, fullAt, free }: FullDisk,
): Promise<string | undefined> {
  const ended = await runs.start(kind, folder, fullAt === undefined ? {} : { fullAt });
  if (ended.status === 0) return runs.findDifference(kind, folder);
  const problem = findBadEnd(ended);
  if (problem !== undefined) return problem;
  free();
  return runs.finish(kind, folder);
}

/** A run on a full disk ends with one clear sentence. */
function findBadEnd({ status, stderr }: Ended): string | undefined {
  const line = lastLine(stderr);
  const isSentence = /^Cannot .*the disk is full/.test(line) && !/^ {4}at /m.test(stderr);
  if (status !== null && isSentence) return undefined;
  return `it must end with a sentence about the full disk, got exit code ${status} and: ${line}`;
}

import { readdir } from 'node:fs/promises';

/** A folder that holds, or should hold, a checkpoint. */
interface CheckpointName {
  readonly name: string;
  readonly step: number;
  readonly isReplaced: boolean;
}

/** @example 123  →  checkpoint-000123 */
export function nameCheckpoint(step: number): string {
  return `checkpoint-${String(step).padStart(6, '0')}`;
}

/** The place of a checkpoint whose successor of the same step is being put in place. */
export function nameReplaced(step: number): string {
  return `${nameCheckpoint(step)}.replaced`;
}

/** A name for what is half made or half deleted. */
export function nameTemporary(step: number, id: string): string {
  return `${nameCheckpoint(step)}.${id}.tmp`;
}

export interface StoreListing {
  /** Newest first; a replaced one comes after its successor. */
  readonly checkpoints: readonly CheckpointName[];
  /** Left by processes that were ended. */
  readonly leftovers: readonly string[];
}

/** What lies in the folder of a store; nothing if there is no such folder. */
export async function listStore(folder: string): Promise<StoreListing> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const checkpoints = names.map(parseName).filter((name) => name !== undefined);
  return {
    checkpoints: checkpoints.toSorted(
      (a, b) => b.step - a.step || Number(a.isReplaced) - Number(b.isReplaced),
    ),
    leftovers: names.filter((name) => /^(checkpoint-|best\.json).*\.tmp$/.test(name)),
  };
}

function parseName(name: string): CheckpointName | undefined {
  const match = /^checkpoint-(\d{6,})(\.replaced)?$/.exec(name);
  if (match === null) return undefined;
  return { name, step: Number(match[1]), isReplaced: match[2] !== undefined };
}

import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  explainSystemError,
  makeFolder,
  readOwnText,
  syncFolder,
  syncTree,
  writeAtomically,
} from '../fs/index.ts';
import { findDamage, readManifest, writeManifest } from './checkpoint-manifest.ts';

/** The folder with the checkpoints, in a run or in a trainer's `output`. */
export const checkpointsName = 'checkpoints';

/** Options of a checkpoint store. */
export interface CheckpointStoreOptions {
  /** Number of newest checkpoints to keep, besides the best. */
  readonly keep: number;
}

/** Options of `CheckpointStore.save`. */
export interface SaveCheckpointOptions {
  /** Whether the model is the best so far. */
  readonly isBest: boolean;
}

/** A checkpoint whose files are intact. */
export interface FoundCheckpoint {
  readonly step: number;
  readonly folder: string;
  /** One sentence per newer checkpoint that was skipped because it is damaged. */
  readonly warnings: readonly string[];
}

/** The checkpoints of a run: folders that appear complete or not at all, whenever the process ends.
 *  A checkpoint's manifest says whether it is the best, so both are put in place in one rename;
 *  `best.json` names the best for people and scripts. */
export class CheckpointStore {
  readonly folder: string;
  private readonly keep: number;

  constructor(folder: string, { keep }: CheckpointStoreOptions) {
    if (!(keep >= 1)) {
      throw new RangeError(
        `Cannot keep checkpoints in ${folder}: keep must be at least 1, got ${keep}`,
      );
    }
    this.folder = folder;
    this.keep = keep;
  }

  /** Saves the checkpoint of a step; `write` puts its files into a folder. Then deletes checkpoints
   *  that are neither among the newest nor the best, and all of later steps: they were
   *  abandoned when the run resumed from an earlier step. */
  async save(
    step: number,
    write: (folder: string) => Promise<void>,
    { isBest }: SaveCheckpointOptions,
  ): Promise<string> {
    const temporary = join(this.folder, temporaryName(step));
    const folder = join(this.folder, checkpointName(step));
    try {
      await this.clean();
      await makeFolder(this.folder);
      await mkdir(temporary);
      await write(temporary);
      await writeManifest(temporary, { step, isBest });
      await syncTree(temporary);
      await this.putInPlace(step, temporary);
      await this.removeLater(step);
      await this.prune(step);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      throw await this.explainFailure(error, step);
    }
    return folder;
  }

  /** The newest intact checkpoint; undefined if there are no checkpoints. */
  async latest(): Promise<FoundCheckpoint | undefined> {
    return this.expectIntact(await this.find('latest'), 'latest');
  }

  /** The newest intact checkpoint that was saved as the best. */
  async best(): Promise<FoundCheckpoint | undefined> {
    return this.expectIntact(await this.find('best'), 'best');
  }

  /** Removes what ended processes left behind, and completes or reverts an interrupted replacement. */
  async clean(): Promise<void> {
    const { checkpoints, leftovers } = await listCheckpoints(this.folder);
    for (const name of leftovers) await rm(join(this.folder, name), { recursive: true });
    const names = new Set(checkpoints.map(({ name }) => name));
    for (const { name, step } of checkpoints.filter(({ isReplaced }) => isReplaced)) {
      if (names.has(checkpointName(step))) await this.remove(name, step);
      else await rename(join(this.folder, name), join(this.folder, checkpointName(step)));
    }
  }

  private async find(which: 'latest' | 'best'): Promise<Search> {
    const warnings: string[] = [];
    for (const { name, step } of (await listCheckpoints(this.folder)).checkpoints) {
      const folder = join(this.folder, name);
      const manifest = await readManifest(folder, step);
      const isWanted = typeof manifest === 'string' || which === 'latest' || manifest.isBest;
      if (!isWanted) continue;
      const fault = typeof manifest === 'string' ? manifest : await findDamage(folder, manifest);
      if (fault === undefined) return { checkpoint: { step, folder, warnings }, warnings };
      warnings.push(`Skipping ${folder}: ${fault}`);
    }
    return { checkpoint: undefined, warnings };
  }

  private expectIntact(
    { checkpoint, warnings }: Search,
    which: string,
  ): FoundCheckpoint | undefined {
    if (checkpoint !== undefined || warnings.length === 0) return checkpoint;
    throw new Error(
      `Cannot find the ${which} checkpoint in ${this.folder}: at least one must be intact, got none (${warnings.join('; ')}); start a new run`,
    );
  }

  private async putInPlace(step: number, temporary: string): Promise<void> {
    const { checkpoints } = await listCheckpoints(this.folder);
    const [place, replaced] = [checkpointName(step), replacedName(step)];
    const isTaken = checkpoints.some(({ name }) => name === place);
    if (isTaken) await rename(join(this.folder, place), join(this.folder, replaced));
    await rename(temporary, join(this.folder, place));
    await syncFolder(this.folder);
    if (isTaken) await this.remove(replaced, step);
  }

  private async removeLater(step: number): Promise<void> {
    const { checkpoints } = await listCheckpoints(this.folder);
    const later = checkpoints.filter((other) => other.step > step);
    for (const other of later) await this.remove(other.name, other.step);
  }

  /** Deletes the checkpoints up to a step that are neither among the newest nor the best. A power cut may
   *  have undone an earlier deletion. */
  async prune(step: number): Promise<void> {
    const { checkpoints } = await listCheckpoints(this.folder);
    const past = checkpoints.filter((other) => other.step <= step);
    const best = (await this.find('best')).checkpoint?.step;
    await this.pointToBest(best);
    for (const other of past.slice(this.keep)) {
      if (other.step !== best) await this.remove(other.name, other.step);
    }
  }

  private async pointToBest(step: number | undefined): Promise<void> {
    const path = join(this.folder, 'best.json');
    if (step === undefined) return rm(path, { force: true });
    const pointer = `${JSON.stringify({ step, folder: checkpointName(step) })}\n`;
    if ((await readOwnText(path)) !== pointer) await writeAtomically(path, pointer);
  }

  /** Deletes a checkpoint. It is renamed first, so none is ever seen half deleted. */
  private async remove(name: string, step: number): Promise<void> {
    const temporary = join(this.folder, temporaryName(step));
    await rename(join(this.folder, name), temporary);
    await rm(temporary, { recursive: true });
  }

  private async explainFailure(error: unknown, step: number): Promise<unknown> {
    const { checkpoint } = await this.find('latest');
    const next = checkpoint === undefined ? 'start again' : `resume from step ${checkpoint.step}`;
    return explainSystemError(error, {
      action: `save checkpoint ${step} to ${this.folder}`,
      next,
    });
  }
}

interface Search {
  readonly checkpoint: FoundCheckpoint | undefined;
  readonly warnings: readonly string[];
}

/** @example 123  →  checkpoint-000123 */
export function checkpointName(step: number): string {
  return `checkpoint-${String(step).padStart(6, '0')}`;
}

/** The name of a checkpoint while another of the same step takes its place. */
function replacedName(step: number): string {
  return `${checkpointName(step)}.replaced`;
}

/** A name for something half written or half deleted. */
function temporaryName(step: number): string {
  return `${checkpointName(step)}.${randomUUID()}.tmp`;
}

/** A folder that holds, or should hold, a checkpoint. */
interface CheckpointEntry {
  readonly name: string;
  readonly step: number;
  readonly isReplaced: boolean;
}

interface CheckpointListing {
  /** Newest first; a replaced one comes after its successor. */
  readonly checkpoints: readonly CheckpointEntry[];
  /** Left behind by processes that ended. */
  readonly leftovers: readonly string[];
}

/** Lists the folder of a store; empty if the folder is missing. */
async function listCheckpoints(folder: string): Promise<CheckpointListing> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const checkpoints = names.map(parseName).filter((entry) => entry !== undefined);
  return {
    checkpoints: checkpoints.toSorted(
      (a, b) => b.step - a.step || Number(a.isReplaced) - Number(b.isReplaced),
    ),
    leftovers: names.filter((name) => /^(checkpoint-|best\.json).*\.tmp$/.test(name)),
  };
}

function parseName(name: string): CheckpointEntry | undefined {
  const match = /^checkpoint-(\d{6,})(\.replaced)?$/.exec(name);
  if (match === null) return undefined;
  return { name, step: Number(match[1]), isReplaced: match[2] !== undefined };
}

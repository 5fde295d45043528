import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { statIfExists, syncFolder, syncTree, writeAtomically } from '../fs/index.ts';
import { findDamage, readManifest, writeManifest } from './checkpoint-manifest.ts';
import { listStore, nameCheckpoint, nameReplaced, nameTemporary } from './checkpoint-names.ts';
import { explainSystemError } from './system-error.ts';

export interface CheckpointStoreOptions {
  /** Newest checkpoints that are kept, besides the best. */
  readonly keep: number;
}

export interface SaveCheckpointOptions {
  /** Whether the policy is the best so far. */
  readonly isBest: boolean;
}

/** A checkpoint whose files are as they were written. */
export interface FoundCheckpoint {
  readonly step: number;
  readonly folder: string;
  /** A sentence for each newer checkpoint that was passed over, and why. */
  readonly warnings: readonly string[];
}

/** The checkpoints of a run: folders that appear whole or not at all, whenever the process ends.
 *  Whether one is the best stands in its manifest, so that both are put in place at once;
 *  `best.json` says which one it is to people and scripts. */
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

  /** Saves the checkpoint of a step, whose files `write` puts in a folder; then deletes those that
   *  are neither among the newest nor the best. Those of later steps are deleted in any case: they
   *  belong to a course that was left when an earlier step was resumed. */
  async save(
    step: number,
    write: (folder: string) => Promise<void>,
    { isBest }: SaveCheckpointOptions,
  ): Promise<string> {
    const temporary = join(this.folder, nameTemporary(step, randomUUID()));
    const folder = join(this.folder, nameCheckpoint(step));
    try {
      await this.clean();
      await mkdir(temporary, { recursive: true });
      await write(temporary);
      await writeManifest(temporary, { step, isBest });
      await syncTree(temporary);
      await this.putInPlace(step, temporary);
      await this.prune(step);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      throw await this.explainFailure(error, step);
    }
    return folder;
  }

  /** The newest checkpoint whose files are whole; undefined if there are no checkpoints. */
  async latest(): Promise<FoundCheckpoint | undefined> {
    return this.expectSome(await this.find('latest'), 'latest');
  }

  /** The newest checkpoint that was saved as the best, if its files are whole. */
  async best(): Promise<FoundCheckpoint | undefined> {
    return this.expectSome(await this.find('best'), 'best');
  }

  private async find(which: 'latest' | 'best'): Promise<Search> {
    const warnings: string[] = [];
    for (const { name, step } of (await listStore(this.folder)).checkpoints) {
      const folder = join(this.folder, name);
      const manifest = await readManifest(folder, step);
      const isWanted = typeof manifest === 'string' || which === 'latest' || manifest.isBest;
      if (!isWanted) continue;
      const fault = typeof manifest === 'string' ? manifest : await findDamage(folder, manifest);
      if (fault === undefined) return { found: { step, folder, warnings }, warnings };
      warnings.push(`Passing over ${folder}: ${fault}`);
    }
    return { found: undefined, warnings };
  }

  private expectSome({ found, warnings }: Search, which: string): FoundCheckpoint | undefined {
    if (found !== undefined || warnings.length === 0) return found;
    throw new Error(
      `Cannot find the ${which} checkpoint in ${this.folder}: one must be whole, got none (${warnings.join('; ')}); start a new run`,
    );
  }

  /** Removes what ended processes left, and finishes or takes back a replacement. */
  private async clean(): Promise<void> {
    const { checkpoints, leftovers } = await listStore(this.folder);
    for (const name of leftovers) await rm(join(this.folder, name), { recursive: true });
    const names = new Set(checkpoints.map(({ name }) => name));
    for (const { name, step } of checkpoints.filter(({ isReplaced }) => isReplaced)) {
      if (names.has(nameCheckpoint(step))) await this.remove(name, step);
      else await rename(join(this.folder, name), join(this.folder, nameCheckpoint(step)));
    }
  }

  private async putInPlace(step: number, temporary: string): Promise<void> {
    const { checkpoints } = await listStore(this.folder);
    const isTaken = checkpoints.some(({ name }) => name === nameCheckpoint(step));
    const [place, replaced] = [nameCheckpoint(step), nameReplaced(step)];
    if (isTaken) await rename(join(this.folder, place), join(this.folder, replaced));
    await rename(temporary, join(this.folder, place));
    await syncFolder(this.folder);
    if (isTaken) await this.remove(replaced, step);
  }

  private async prune(step: number): Promise<void> {
    const { checkpoints } = await listStore(this.folder);
    const past = checkpoints.filter((other) => other.step <= step);
    const later = checkpoints.filter((other) => other.step > step);
    for (const other of later) await this.remove(other.name, other.step);
    const best = (await this.find('best')).found?.step;
    await this.pointToBest(best);
    for (const other of past.slice(this.keep)) {
      if (other.step !== best) await this.remove(other.name, other.step);
    }
  }

  private async pointToBest(step: number | undefined): Promise<void> {
    const path = join(this.folder, 'best.json');
    if (step === undefined) return rm(path, { force: true });
    const pointer = `${JSON.stringify({ step, folder: nameCheckpoint(step) })}\n`;
    const isThere = (await statIfExists(path)) !== undefined;
    if (!isThere || (await readFile(path, 'utf8')) !== pointer)
      await writeAtomically(path, pointer);
  }

  /** Deletes a checkpoint; renamed first, so that none is ever seen half deleted. */
  private async remove(name: string, step: number): Promise<void> {
    const temporary = join(this.folder, nameTemporary(step, randomUUID()));
    await rename(join(this.folder, name), temporary);
    await rm(temporary, { recursive: true });
  }

  private async explainFailure(error: unknown, step: number): Promise<unknown> {
    const { found } = await this.find('latest');
    const next = found === undefined ? 'start again' : `resume from step ${found.step}`;
    return explainSystemError(error, {
      action: `save checkpoint ${step} to ${this.folder}`,
      next,
    });
  }
}

interface Search {
  readonly found: FoundCheckpoint | undefined;
  readonly warnings: readonly string[];
}

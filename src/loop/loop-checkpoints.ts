import { join, relative } from 'node:path';
import { pathExists } from '../fs/index.ts';
import type { SaveCheckpoint } from './checkpoint.ts';
import { CheckpointStore, checkpointsName, type FoundCheckpoint } from './checkpoint-store.ts';
import { loopStateName } from './loop-state.ts';

/** Where a training saves its checkpoints and what it resumes from. */
export interface CheckpointPlaces {
  /** Folder of the training. Its `checkpoints` folder receives a checkpoint every `saveInterval` steps,
   *  the best and the last; nothing is saved without it. */
  readonly output?: string | undefined;
  /** Saves checkpoints elsewhere than in `output`. */
  readonly saveCheckpoint?: SaveCheckpoint | undefined;
  /** The checkpoint to resume from, or an `output` folder, whose newest intact checkpoint is used. */
  readonly resumeFrom?: string | undefined;
}

type StartCheckpoint = Pick<FoundCheckpoint, 'folder' | 'warnings'>;

/** The folders of a training's checkpoints. */
export interface CheckpointFolders {
  readonly last: string | undefined;
  /** Undefined if nothing was evaluated. */
  readonly best: string | undefined;
}

/** Saves the checkpoints of one training and finds the one it resumes from. */
export class LoopCheckpoints {
  private readonly places: CheckpointPlaces;
  private readonly store: CheckpointStore | undefined;

  /** @param options.keep number of newest checkpoints to keep in `output`, besides the best */
  constructor(places: CheckpointPlaces, { keep }: { readonly keep: number }) {
    const { output, saveCheckpoint } = places;
    if (output !== undefined && saveCheckpoint !== undefined) {
      throw new TypeError(
        `Cannot save checkpoints: only one of output and saveCheckpoint may be set, got both (output ${output}); leave out one`,
      );
    }
    this.places = places;
    this.store =
      output === undefined
        ? undefined
        : new CheckpointStore(join(output, checkpointsName), { keep });
  }

  /** The checkpoint to resume from; undefined for a new training, which needs an output without
   *  checkpoints. */
  async findStart(): Promise<StartCheckpoint | undefined> {
    const { output, resumeFrom } = this.places;
    const start = resumeFrom === undefined ? undefined : await findCheckpoint(resumeFrom);
    if (this.store === undefined || (start && isInside(start.folder, this.store.folder))) {
      return start;
    }
    const other = await this.store.latest();
    if (other === undefined) return start;
    throw new Error(
      `Cannot save checkpoints in ${output}: it must have none of another training, got one of step ${other.step}; resume with resumeFrom: ${JSON.stringify(output)} or choose another output`,
    );
  }

  /** Saves a checkpoint and returns its folder; undefined if there is no place for it. */
  async save(
    write: (folder: string) => Promise<void>,
    { step, isBest }: { readonly step: number; readonly isBest: boolean },
  ): Promise<string | undefined> {
    const { saveCheckpoint } = this.places;
    if (saveCheckpoint !== undefined) return saveCheckpoint(write, { step, isBest });
    return this.store?.save(step, write, { isBest });
  }

  /** The last and the best checkpoint in `output`; undefined without it. */
  async folders(): Promise<CheckpointFolders | undefined> {
    if (this.store === undefined) return undefined;
    const [last, best] = [await this.store.latest(), await this.store.best()];
    return { last: last?.folder, best: best?.folder };
  }
}

function isInside(folder: string, parent: string): boolean {
  return !relative(parent, folder).startsWith('..');
}

/** The checkpoint in a folder, which is itself one or has them in `checkpoints`. */
async function findCheckpoint(folder: string): Promise<StartCheckpoint> {
  if (await pathExists(join(folder, loopStateName))) return { folder, warnings: [] };
  const latest = await new CheckpointStore(join(folder, checkpointsName), { keep: 1 }).latest();
  if (latest !== undefined) return latest;
  throw new Error(
    `Cannot resume from ${folder}: it must be a checkpoint or contain checkpoints, got neither; leave out resumeFrom to start from step 0`,
  );
}

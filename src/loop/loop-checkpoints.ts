import { join, relative } from 'node:path';
import { pathExists } from '../fs/index.ts';
import type {
  CheckpointFolders,
  CheckpointPlaces,
  LoopStore,
  StartCheckpoint,
} from './checkpoint.ts';
import { CheckpointStore, checkpointsName } from './checkpoint-store.ts';
import { loopStateName, readLoopState, writeLoopState } from './loop-state-files.ts';
import { type LoopConfig, type LoopOptions, type Training, TrainLoop } from './train-loop.ts';

/** Saves the checkpoints of one training and finds the one it resumes from. */
class LoopCheckpoints implements LoopStore {
  readonly readState = readLoopState;
  readonly writeState = writeLoopState;
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

/** The loop of a training that saves its checkpoints in files. */
export function createTrainLoop(
  training: Training,
  config: LoopConfig,
  options: LoopOptions,
): TrainLoop {
  const checkpoints = new LoopCheckpoints(options, { keep: config.keepCheckpoints });
  return new TrainLoop(training, config, { ...options, checkpoints });
}

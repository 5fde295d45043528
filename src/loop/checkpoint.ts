import type { LoopState } from './loop-state.ts';

/** Saves a checkpoint: `write` fills the folder that it receives. Returns the final folder. */
export type SaveCheckpoint = (
  write: (folder: string) => Promise<void>,
  about: { readonly step: number; readonly isBest: boolean },
) => Promise<string>;

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

/** The folders of a training's checkpoints. */
export interface CheckpointFolders {
  readonly last: string | undefined;
  /** Undefined if nothing was evaluated. */
  readonly best: string | undefined;
}

/** The checkpoint that a training resumes from. */
export interface StartCheckpoint {
  readonly folder: string;
  /** Sentences for the user, such as about skipped checkpoints. */
  readonly warnings: readonly string[];
}

/** Where the training loop keeps its checkpoints. */
export interface LoopStore {
  /** The checkpoint to resume from; undefined for a new training. */
  findStart(): Promise<StartCheckpoint | undefined>;
  /** Saves a checkpoint and returns its folder; undefined if there is no place for it. */
  save(
    write: (folder: string) => Promise<void>,
    about: { readonly step: number; readonly isBest: boolean },
  ): Promise<string | undefined>;
  /** The last and the best checkpoint; undefined if there is no place for them. */
  folders(): Promise<CheckpointFolders | undefined>;
  /** Writes the loop's own state into the folder of a checkpoint. */
  writeState(folder: string, state: Readonly<Record<keyof LoopState, unknown>>): Promise<void>;
  /** Reads what `writeState` wrote. */
  readState(folder: string): Promise<LoopState>;
}

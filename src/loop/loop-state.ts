import { join } from 'node:path';
import { z } from 'zod';
import { parseJsonObject, readRegularText, writeAtomically } from '../fs/index.ts';
import { checkLength } from './change-length.ts';
import { expectSameConfig } from './checkpoint.ts';
import { stopReasons } from './records.ts';

/** The file of a checkpoint with everything but weights and moments. */
export const loopStateName = 'state.json';

const stateSchema = z.strictObject({
  /** Completed steps. */
  step: z.int().min(0),
  episodes: z.int().min(0),
  /** Step of the last evaluation, −1 before the first. */
  evaluatedStep: z.int().min(-1),
  /** Why the run stopped, if an evaluation stopped it. */
  stop: z.strictObject({ reason: z.enum(stopReasons), message: z.string() }).nullable(),
  /** Of the last step or epoch; null is NaN. */
  metrics: z.record(z.string(), z.number().nullable()),
  epoch: z.record(z.string(), z.tuple([z.number(), z.number()])),
  /** Of the whole run; missing in checkpoints of older versions. */
  totalSteps: z.int().min(0).optional(),
  config: z.record(z.string(), z.unknown()),
  training: z.unknown(),
});

/** The state of the training loop in a checkpoint. */
export type LoopState = z.output<typeof stateSchema>;

/** Writes the state into the folder of a checkpoint. */
export async function writeLoopState(
  folder: string,
  state: Readonly<Record<keyof LoopState, unknown>>,
): Promise<void> {
  const json = JSON.stringify(state, undefined, 2);
  await writeAtomically(join(folder, loopStateName), `${json}\n`);
}

/** Reads what `writeLoopState` wrote. */
export async function readLoopState(folder: string): Promise<LoopState> {
  const file = join(folder, loopStateName);
  const state = stateSchema.safeParse(parseJsonObject(await readRegularText(file), file));
  if (state.success) return state.data;
  const [issue] = state.error.issues;
  throw new Error(
    `Cannot resume from ${file}: "${issue!.path.join('.')}" is not what this version writes (${issue!.message}); choose another checkpoint`,
  );
}

/** The training that resumes. */
export interface ResumedTraining {
  /** Everything that must be unchanged to resume exactly. */
  readonly identity: object;
  /** Steps of the whole run now. */
  readonly totalSteps: number;
  /** How the learning rate changes over the run. */
  readonly schedule: string;
}

/** Requires that a training can resume from a state. Returns sentences for the user. */
export function checkLoopState(
  { step, totalSteps: before, config }: LoopState,
  { identity, totalSteps: now, schedule }: ResumedTraining,
): string[] {
  expectSameConfig(config, identity);
  const note = checkLength({ step, before, now, schedule });
  return note === undefined ? [] : [note];
}

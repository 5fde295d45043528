import { z } from 'zod';
import { parseJsonObject } from '../fs/parse-json.ts';
import { checkLength } from './change-length.ts';
import { stopReasons } from './records.ts';

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

/** Checks the text of a state.
 *  @param file what errors call it */
export function parseLoopState(text: string, file: string): LoopState {
  const state = stateSchema.safeParse(parseJsonObject(text, file));
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
  const notes = [checkLength({ step, before, now, schedule }), checkDevice(config, identity)];
  return notes.filter((note) => note !== undefined);
}

/** A warning if a run continues on another device; checkpoints of older versions are of the CPU. */
function checkDevice(saved: object, current: object): string | undefined {
  const deviceOf = ({ device = 'auto' }: { device?: string }) =>
    device === 'auto' ? 'cpu' : device;
  const [before, now] = [deviceOf(saved), deviceOf(current)];
  if (before === now) return undefined;
  return `The checkpoint is of device ${before} and continues on ${now}: results differ from an uninterrupted run in their last digits`;
}

/** Keys that may change: the model may have moved, the run may be extended, or continue on another device. */
const changeableKeys: ReadonlySet<string> = new Set([
  'modelName',
  'device',
  'numEpochs',
  'maxSteps',
  'totalSteps',
]);

/** Requires the hyper-parameters that the run started with. */
function expectSameConfig(saved: Readonly<Record<string, unknown>>, config: object): void {
  const now: Record<string, unknown> = JSON.parse(JSON.stringify(config));
  for (const key of new Set([...Object.keys(saved), ...Object.keys(now)])) {
    const [before, after] = [JSON.stringify(saved[key]), JSON.stringify(now[key])];
    if (before === after || changeableKeys.has(key)) continue;
    throw new Error(
      `Cannot resume: ${key} must be ${before} as when the run started, got ${after}; use that value or start a new run`,
    );
  }
}

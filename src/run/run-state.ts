import { join } from 'node:path';
import { z } from 'zod';
import { explainSystemError, readOwnText, writeAtomicallySync } from '../fs/index.ts';
import { stopReasons } from '../loop/records.ts';

/** The file that marks a folder as a run. */
export const stateName = 'run.json';

/** The status of a run, as its own process last wrote it. */
export const runStatuses = ['running', 'paused', 'waiting', 'failed', ...stopReasons] as const;

const runStateSchema = z.object({
  /** Version of this package. */
  version: z.string(),
  /** The process that last worked on the run. */
  pid: z.int(),
  startedAt: z.iso.datetime(),
  /** When the run was last resumed. */
  resumedAt: z.iso.datetime().optional(),
  /** Completed steps. */
  step: z.int().min(0),
  totalSteps: z.int().min(0).optional(),
  /** A killed process leaves `running`, `paused` or `waiting` (for people) behind; check its pid. */
  status: z.enum(runStatuses),
  /** Why the run ended or what it is waiting for, in one sentence. */
  message: z.string().optional(),
  /** Which model is in `model/`; missing until the run has ended. */
  model: z
    .object({
      /** Completed steps of the model. */
      step: z.int().min(0),
      chosenBy: z.enum(['validation', 'last']),
      /** What decided, such as `eval/reward`, and its value. */
      metric: z.string().optional(),
      value: z.number().optional(),
      /** The choice and its reason in one sentence. */
      message: z.string(),
    })
    .optional(),
  /** What a live run is doing. */
  phase: z.object({ phase: z.string(), done: z.int(), total: z.int() }).optional(),
});

/** The progress of a run. */
export type RunState = Readonly<z.output<typeof runStateSchema>>;

/** Whether a run with this status has ended; a killed one has not. */
export function hasEnded({ status }: Pick<RunState, 'status'>): boolean {
  return status !== 'running' && status !== 'paused' && status !== 'waiting';
}

/** Replaces the state of a run: it is complete or unchanged, also after a power cut. */
export function writeRunState(folder: string, state: RunState): void {
  const path = join(folder, stateName);
  try {
    writeAtomicallySync(path, `${JSON.stringify(state, undefined, 2)}\n`);
  } catch (error) {
    throw explainSystemError(error, { action: `write ${path}`, next: 'resume the run' });
  }
}

/** The state of a run; undefined if the folder holds none. */
export async function readRunState(folder: string): Promise<RunState | undefined> {
  const state = await readRunStateIfIntact(folder);
  if (state !== 'damaged') return state;
  throw new SyntaxError(
    `Cannot read ${join(folder, stateName)}: it must be a JSON object, got damaged text; resume the run, which rebuilds it`,
  );
}

/** The state of a run, `damaged` if its file is empty or truncated, such as after a power cut with an
 *  earlier version; undefined if the folder holds none. */
export async function readRunStateIfIntact(
  folder: string,
): Promise<RunState | 'damaged' | undefined> {
  const path = join(folder, stateName);
  const text = await readOwnText(path);
  if (text === undefined) return undefined;
  const json = parseObject(text);
  if (json === undefined) return 'damaged';
  const { data, error } = runStateSchema.safeParse(json);
  if (data !== undefined) return data;
  const [issue] = error.issues as [z.core.$ZodIssue];
  throw new TypeError(
    `Cannot read ${path}: it must be the state of a run (${issue.path.join('.')}: ${issue.message}); choose another folder`,
  );
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

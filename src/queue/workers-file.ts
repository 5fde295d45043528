import { z } from 'zod';
import { readOwnText } from '../fs/index.ts';

const text = z.string().max(1000);
const count = z.int().min(0);
const amount = z.number().min(0);

/** A worker in `workers.json`: the part of its `WorkerRecord` that people need. */
const workerSchema = z.object({
  host: text,
  pid: z.int(),
  state: z.enum(['waiting', 'loading', 'idle', 'busy', 'draining', 'refused']),
  /** What it is doing, or why it was refused. */
  message: text.optional(),
  /** Jobs completed and failed. */
  jobs: count,
  failed: count,
  /** Milliseconds of work, and milliseconds since it joined the run. */
  busy: amount,
  wall: amount,
  /** Bytes. */
  sent: amount,
  received: amount,
  /** When it was started. */
  since: z.iso.datetime(),
});

/** The contents of `workers.json`: what a run sends through its queue, and to whom. */
export const workersStateSchema = z.object({
  updatedAt: z.iso.datetime(),
  /** When the trainer connected to the queue; its totals start there. */
  since: z.iso.datetime(),
  /** Whether Redis answers; if not, the workers are those that it last reported. */
  connected: z.boolean(),
  /** What the run waits for. */
  progress: z.object({
    /** Completed steps. */
    step: count,
    /** The kind of its jobs, such as `gradients`; `start` before the first. */
    stage: text,
    done: count,
    total: count,
  }),
  totals: z.object({
    /** Completed jobs. */
    jobs: count,
    /** Completed jobs per second, in the last minute. */
    jobsPerSecond: amount,
    /** Jobs that were given to another worker. */
    retries: count,
    /** Bytes that the trainer sent and received. */
    sent: amount,
    received: amount,
  }),
  /** Workers of the run and those that were refused, the oldest first. */
  workers: z.array(workerSchema),
});

/** The contents of `workers.json`. */
export type WorkersState = Readonly<z.output<typeof workersStateSchema>>;

/** A worker in `workers.json`. */
export type WorkerState = Readonly<z.output<typeof workerSchema>>;

/** Reads `workers.json`; undefined if it is missing or of another version. */
export async function readWorkersFile(path: string): Promise<WorkersState | undefined> {
  const json = await readOwnText(path);
  return json === undefined ? undefined : parseWorkers(json);
}

function parseWorkers(json: string): WorkersState | undefined {
  try {
    return workersStateSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

import { z } from 'zod';
import { ppoConfigShape } from '../config/ppo-config.ts';
import { blobRefSchema } from './blob-store.ts';
import type { JobKind } from './job-values.ts';

/** Version of everything that travels through Redis. */
export const PROTOCOL = 1;

/** The queue of a run. Its jobs can only be done with the run's base. */
export function queueName(run: string): string {
  return `proximal-${run}`;
}

/** Where a run announces itself and a worker registers. */
export const recordKeys = {
  run: (id: string) => `proximal:run:${id}`,
  worker: (id: string) => `proximal:worker:${id}`,
};

/** Seconds after which a record without a heartbeat disappears, and milliseconds between heartbeats. */
export const RECORD_EXPIRY = 15;
export const HEARTBEAT = 3000;

/** How a worker passes its settings to the process that runs jobs: not as arguments, which others see. */
export const processVariables = {
  url: 'PROXIMAL_QUEUE_URL',
  model: 'PROXIMAL_WORKER_MODEL',
} as const;

const text = z.string().max(1000);
const count = z.number().min(0);

/** What determines the bits of a result, besides base and data. */
const machineSchema = z.strictObject({
  version: text,
  onnxRuntime: text,
  /** The instruction sets that matrix products use. */
  instructions: text,
  /** Threads inside one operation. */
  threads: z.int().min(1),
});

export type Machine = Readonly<z.output<typeof machineSchema>>;

const fingerprintSchema = z.looseObject({ weights: text });

/** What all jobs of a run share: a worker reads it once. */
export const setupSchema = z.strictObject({
  protocol: z.literal(PROTOCOL),
  machine: machineSchema,
  model: z.strictObject({
    name: text,
    revision: text.optional(),
    precision: z.enum(['f32', 'int8']),
    fingerprint: fingerprintSchema,
  }),
  config: z.object(ppoConfigShape),
  /** The adapter that training starts from, which is the reference's. */
  reference: blobRefSchema.optional(),
});

export type Setup = Readonly<z.output<typeof setupSchema>>;

const jobKinds = [
  'rollOut',
  'policyLogprobs',
  'refLogprobs',
  'values',
  'rewardScores',
  'gradients',
] as const satisfies readonly JobKind[];

/** The data of a job in the queue: everything else is in blobs. */
export const jobDataSchema = z.strictObject({
  protocol: z.literal(PROTOCOL),
  run: text,
  step: z.int().min(0),
  kind: z.enum(jobKinds),
  /** Number of the shard or micro-batch. */
  part: z.int().min(0),
  setup: blobRefSchema,
  /** Weights of the models that the job runs. */
  policy: blobRefSchema.optional(),
  value: blobRefSchema.optional(),
  reward: blobRefSchema.optional(),
  input: blobRefSchema,
});

export type JobData = Readonly<z.output<typeof jobDataSchema>>;

/** What a worker returns. */
export const jobResultSchema = z.strictObject({
  output: blobRefSchema,
  /** Milliseconds of work, and bytes that travelled for it. */
  busy: count,
  sent: count,
  received: count,
});

export type JobResult = Readonly<z.output<typeof jobResultSchema>>;

/** A run that waits for workers, in Redis while it runs. */
export const runRecordSchema = z.strictObject({
  protocol: z.int(),
  id: text,
  /** Name of the run's folder. */
  name: text,
  host: text,
  pid: z.int(),
  setup: blobRefSchema,
  machine: machineSchema,
  model: text,
  step: z.int().min(0),
  /** What it waits for, such as `gradients`. */
  stage: text,
  done: z.int().min(0),
  total: z.int().min(0),
});

export type RunRecord = Readonly<z.output<typeof runRecordSchema>>;

/** A worker, in Redis while it is connected. */
export const workerRecordSchema = z.strictObject({
  protocol: z.int(),
  id: text,
  host: text,
  pid: z.int(),
  machine: machineSchema.omit({ threads: true }),
  since: z.iso.datetime(),
  state: z.enum(['waiting', 'loading', 'idle', 'busy', 'draining', 'refused']),
  /** The run it works for. */
  run: text.optional(),
  /** What it is doing, or why it was refused. */
  message: text.optional(),
  jobs: z.int().min(0),
  failed: z.int().min(0),
  /** Milliseconds of work, and milliseconds since it joined the run. */
  busy: count,
  wall: count,
  sent: count,
  received: count,
});

export type WorkerRecord = Readonly<z.output<typeof workerRecordSchema>>;

import type { SandboxedJob } from 'bullmq';
import { UnrecoverableError } from 'bullmq';
import { type LoadedModel, loadModel } from '../models/index.ts';
import { decodeBlob } from './blob.ts';
import { type BlobRef, BlobStore, MissingBlobError } from './blob-store.ts';
import { JobRunner } from './job-runner.ts';
import {
  type JobResult,
  jobDataSchema,
  processVariables,
  type Setup,
  setupSchema,
} from './protocol.ts';
import { createClient } from './redis.ts';

let blobs: BlobStore | undefined;
let runner: { readonly sha256: string; readonly jobs: JobRunner } | undefined;
let loaded: { readonly key: string; readonly model: LoadedModel } | undefined;

/** Runs one job in the child process of a worker. ONNX Runtime blocks the event loop, and the worker
 *  must renew the job's lock meanwhile. */
// biome-ignore lint/style/noDefaultExport: BullMQ calls the default export of this file.
export default async function runJob(job: SandboxedJob): Promise<JobResult> {
  const { data, error } = jobDataSchema.safeParse(job.data);
  if (data === undefined) {
    const [issue] = error.issues;
    throw new UnrecoverableError(
      `Cannot run job ${job.id}: its data must be a job of this version, got ${issue?.path.join('.') || 'other data'}: ${issue?.message}`,
    );
  }
  blobs ??= new BlobStore(createClient(process.env[processVariables.url]!));
  const before = { ...blobs.traffic };
  const start = performance.now();
  try {
    const output = await (await runnerOf(data.setup, blobs)).run(data);
    return {
      output,
      busy: performance.now() - start,
      sent: blobs.traffic.sent - before.sent,
      received: blobs.traffic.received - before.received,
    };
  } catch (failure) {
    // The trainer sends the blob again.
    if (failure instanceof MissingBlobError) throw new UnrecoverableError(failure.message);
    throw failure;
  }
}

async function runnerOf(ref: BlobRef, store: BlobStore): Promise<JobRunner> {
  if (runner?.sha256 === ref.sha256) return runner.jobs;
  const setup = setupSchema.parse(await decodeBlob(await store.get(ref)));
  const model = await modelOf(setup);
  await runner?.jobs.dispose();
  runner = { sha256: ref.sha256, jobs: new JobRunner(model, { setup, blobs: store }) };
  return runner.jobs;
}

/** The base, which stays in memory for all runs that use it. */
async function modelOf({ model: { name, revision, precision } }: Setup): Promise<LoadedModel> {
  const place = process.env[processVariables.model] ?? name;
  const key = JSON.stringify([place, revision, precision]);
  if (loaded?.key === key) return loaded.model;
  await loaded?.model.base.dispose();
  loaded = undefined;
  const options = { basePrecision: precision, ...(revision !== undefined && { revision }) };
  loaded = { key, model: await loadModel(place, options) };
  return loaded.model;
}

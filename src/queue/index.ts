export { connectQueue } from './connect-queue.ts';
export type { RunRecord, WorkerRecord } from './protocol.ts';
export type { QueueClient } from './queue-client.ts';
export { QueueJobs } from './queue-jobs.ts';
export { checkRedis, createClient } from './redis.ts';
export { QueueWorker } from './worker.ts';
export { listRuns, listWorkers } from './worker-list.ts';
export { WorkersReporter } from './workers-reporter.ts';

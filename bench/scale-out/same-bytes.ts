import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { createClient, listWorkers } from '../../src/queue/index.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { writePostInputs } from '../post-inputs.ts';
import type { RedisProcess } from '../redis-process.ts';
import { hashRun } from './hash-run.ts';
import { WorkerProcess } from './worker-process.ts';

export const WORKER_COUNTS = [0, 1, 2, 4] as const;

const STEPS = 4;
const BATCH = 8;

/** The result of one run. */
interface RunHashes {
  readonly workers: number;
  /** Jobs that each worker completed. */
  readonly jobs: readonly number[];
  /** SHA-256 by file: adapters, and logs without timing. */
  readonly hashes: Readonly<Record<string, string>>;
}

/** The same seeded run of the embedded model in this process and on 1, 2 and 4 workers. */
export async function compareBytes(
  redis: RedisProcess,
): Promise<{ readonly same: boolean; readonly runs: readonly RunHashes[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-scale-out-'));
  const workers: WorkerProcess[] = [];
  const runs: RunHashes[] = [];
  try {
    writePostInputs(folder, STEPS * BATCH);
    for (const count of WORKER_COUNTS) {
      while (workers.length < count) {
        workers.push(await WorkerProcess.start({ url: redis.url() }));
      }
      runs.push(await runOn(count, { folder, url: redis.url() }));
      console.error(JSON.stringify(runs.at(-1)));
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    rmSync(folder, { recursive: true });
  }
  const [first, ...others] = runs.map(({ hashes }) => JSON.stringify(hashes));
  return { same: others.every((other) => other === first), runs };
}

async function runOn(
  workers: number,
  { folder, url }: { readonly folder: string; readonly url: string },
): Promise<RunHashes> {
  const output = join(folder, `workers-${workers}`);
  const redis = createClient(url);
  let jobs: readonly number[] = [];
  await trainRun(
    {
      ...{ modelName: embeddedFolder, output, seed: 0 },
      ...{ prompts: join(folder, 'prompts.jsonl'), reward: [join(folder, 'reward.mjs')] },
      ...{ batchSize: BATCH, maxNewTokens: 24, ppoEpochs: 2, rolloutPrecision: 'int8' },
      ...{ rolloutShardSize: 2, microBatchSize: 2, learningRate: 1e-3 },
      ...{ numEpochs: 1, maxSteps: STEPS, saveInterval: 0, evalInterval: 0 },
      ...{ validationFraction: 0, stopOnCollapse: false },
      ...(workers > 0 && { queue: url }),
    },
    {
      onEvent: async ({ type }) => {
        if (type === 'step') jobs = (await listWorkers(redis)).map((worker) => worker.jobs);
      },
    },
  );
  redis.disconnect();
  return { workers, jobs, hashes: hashRun(output) };
}

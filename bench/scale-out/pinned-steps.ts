import { type PPOConfig, resolvePPOConfig } from '../../src/config/ppo-config.ts';
import type { PromptRecord } from '../../src/data/index.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import { describeLoad, MOST_ATTEMPTS, QUIET_CORES, waitForQuiet } from '../alternate.ts';
import { otherCores, sampleLoad } from '../other-load.ts';
import type { Qwen3Size } from '../qwen3.ts';
import type { RedisProcess } from '../redis-process.ts';
import { QueueTrainer } from './queue-trainer.ts';
import { withShapeFolder } from './shape-folder.ts';
import type { MeasuredStep } from './stages.ts';
import { WorkerProcess } from './worker-process.ts';

/** The model and the jobs of a measured step: each rollout job and micro-batch has `perJob` prompts with
 *  one response each. */
export interface StepShape {
  readonly size: Qwen3Size;
  readonly layers: number;
  readonly jobs: number;
  readonly perJob: number;
  readonly promptTokens: number;
  readonly responseTokens: number;
}

/** A run on workers that are pinned to one core each. */
class PinnedRun {
  readonly trainer: QueueTrainer;
  private readonly workers: readonly WorkerProcess[];

  private constructor(trainer: QueueTrainer, workers: readonly WorkerProcess[]) {
    this.trainer = trainer;
    this.workers = workers;
  }

  /** Connects a run to a new worker on each of the first cores, and warms them up.
   *  @param url a database that only this run uses */
  static async start(
    shape: StepShape,
    { url, model, count }: { url: string; model: LoadedModel; count: number },
  ): Promise<PinnedRun> {
    const cores = Array.from({ length: count }, (_, core) => core);
    const workers = await Promise.all(cores.map((core) => WorkerProcess.start({ url, core })));
    const trainer = await QueueTrainer.connect({
      ...{ name: `${count}-pinned`, url, model, config: configOf(shape, model) },
      workerCpu: () => workers.map((worker) => worker.cpuSeconds()),
    });
    const run = new PinnedRun(trainer, workers);
    try {
      await trainer.waitForWorkers(count);
      // The first jobs of a worker load the base and create the sessions.
      await trainer.step(makePrompts({ ...shape, promptTokens: 4, jobs: 2 * count }));
      return run;
    } catch (error) {
      await run.stop();
      throw error;
    }
  }

  processIds(): number[] {
    return this.workers.flatMap((worker) => worker.processIds());
  }

  async stop(): Promise<void> {
    await this.trainer.close();
    await Promise.all(this.workers.map((worker) => worker.stop()));
  }
}

/** Steps of the same run on one and on two workers. */
export interface PinnedRounds {
  readonly one: readonly MeasuredStep[];
  readonly two: readonly MeasuredStep[];
  /** Most cores that other processes used during a step. */
  readonly otherCores: number;
}

interface RoundOptions {
  readonly redis: RedisProcess;
  readonly rounds: number;
  /** Whether to wait until other processes rest, and to repeat rounds in which they did not. */
  readonly quiet: boolean;
}

/** Measures steps on one and on two workers in turn, so that a slow minute affects both. */
export function measureRounds(shape: StepShape, options: RoundOptions): Promise<PinnedRounds> {
  const { redis, rounds, quiet } = options;
  return withShapeFolder(shape, async (model) => {
    const runs: PinnedRun[] = [];
    try {
      for (const count of [1, 2]) {
        runs.push(await PinnedRun.start(shape, { url: redis.url(count), model, count }));
      }
      const measured: { readonly steps: MeasuredStep[]; readonly load: number }[] = [];
      for (let attempt = 1; measured.length < rounds; attempt++) {
        const round = await measureRound(shape, { ...options, runs });
        if (!quiet || round.load <= QUIET_CORES) measured.push(round);
        else if (attempt > rounds * MOST_ATTEMPTS) throw new Error(describeLoad(round.load));
      }
      return {
        one: measured.map(({ steps }) => steps[0]!),
        two: measured.map(({ steps }) => steps[1]!),
        otherCores: Math.max(...measured.map(({ load }) => load)),
      };
    } finally {
      for (const run of runs) await run.stop();
    }
  });
}

/** A step of each run, and the most cores that other processes used meanwhile. */
async function measureRound(
  shape: StepShape,
  { runs, redis, quiet }: RoundOptions & { readonly runs: readonly PinnedRun[] },
): Promise<{ readonly steps: MeasuredStep[]; readonly load: number }> {
  const ids = [process.pid, redis.processId, ...runs.flatMap((run) => run.processIds())];
  const steps: MeasuredStep[] = [];
  let load = 0;
  for (const [i, { trainer }] of runs.entries()) {
    if (quiet) await waitForQuiet(ids);
    const before = sampleLoad(ids);
    const step = await trainer.step(makePrompts(shape));
    const after = sampleLoad(ids);
    if (before && after) load = Math.max(load, otherCores(before, after));
    printStep(`${i + 1} pinned`, step);
    steps.push(step);
  }
  return { steps, load };
}

/** Measures one step on one worker that is pinned to one core. */
export function measureAlone(shape: StepShape, redis: RedisProcess): Promise<MeasuredStep> {
  return withShapeFolder(shape, async (model) => {
    const run = await PinnedRun.start(shape, { url: redis.url(3), model, count: 1 });
    try {
      const step = await run.trainer.step(makePrompts(shape));
      printStep(`${shape.size}, ${shape.layers} layers`, step);
      return step;
    } finally {
      await run.stop();
    }
  });
}

function printStep(name: string, { seconds, trainer, workers }: MeasuredStep): void {
  const times = [trainer, ...workers].map((time) => time.toFixed(2)).join(', ');
  console.error(`${name}: ${seconds.toFixed(2)} s, processor time of trainer and workers ${times}`);
}

function configOf({ jobs, perJob, responseTokens }: StepShape, { folder }: LoadedModel): PPOConfig {
  return resolvePPOConfig({
    ...{ modelName: folder, batchSize: jobs * perJob, maxNewTokens: responseTokens },
    ...{ rolloutShardSize: perJob, microBatchSize: perJob, ppoEpochs: 1 },
    ...{ rolloutPrecision: 'int8', seed: 0 },
  });
}

/** Prompts with different tokens each. */
function makePrompts({ jobs, perJob, promptTokens }: StepShape): PromptRecord[] {
  return Array.from({ length: jobs * perJob }, (_, prompt) => ({
    text: '',
    tokens: Int32Array.from({ length: promptTokens }, (_, i) => 1000 * (prompt + 1) + i),
    row: {},
  }));
}

import { type BenchOptions, median, round } from './measure.ts';
import { type Qwen3Size, qwen3Architecture } from './qwen3.ts';
import { RedisProcess } from './redis-process.ts';
import { measureAlone, measureRounds, type StepShape } from './scale-out/pinned-steps.ts';
import { compareBytes, WORKER_COUNTS } from './scale-out/same-bytes.ts';
import { type SimulatedStep, simulateStep } from './scale-out/simulate-step.ts';
import {
  describeStage,
  extrapolateLayers,
  type MeasuredStep,
  withJobs,
} from './scale-out/stages.ts';

const ROUNDS = 3;

/** The step of the pinned runs: small enough for several rounds. */
const pinned: StepShape = {
  ...{ size: '0.6B', layers: 4, jobs: 8, perJob: 2, promptTokens: 32, responseTokens: 16 },
};

/** Jobs of the predicted steps: 4 prompts of 64 tokens with responses of 32. */
const predictedJob = { perJob: 4, promptTokens: 64, responseTokens: 32 };
/** Jobs per stage and numbers of layers of the two steps that are measured for a prediction. */
const MEASURED_JOBS = 2;
const depths: Readonly<Partial<Record<Qwen3Size, readonly [number, number]>>> = {
  '0.6B': [2, 8],
  '4B': [1, 5],
};
const predictedSizes = Object.keys(depths) as Qwen3Size[];
/** Jobs per stage of a predicted step: 256 responses. */
const PREDICTED_JOBS = 64;
const PREDICTED_WORKERS = [1, 2, 4, 8, 16, 32, 64] as const;
const GBITS = [1, 10] as const;

interface Prediction {
  readonly model: string;
  readonly workers: number;
  readonly gbit: number;
  readonly seconds: number;
}

/** Whether workers change any byte, how much faster two of them are than one, and the time of a step on
 *  more workers from the times and bytes of measured jobs. */
export async function benchScaleOut(options: BenchOptions): Promise<object> {
  // Workers use the trainer's number.
  process.env.PROXIMAL_THREADS = '1';
  const redis = await RedisProcess.start();
  try {
    const { same, runs } = await compareBytes(redis);
    const measured = await measureSpeedup(redis, options);
    const predicted: Prediction[] = [];
    const jobs: Record<string, object> = {};
    for (const size of predictedSizes) {
      const step = await predictStep(size, redis);
      jobs[`Qwen3-${size}`] = {
        measured_layers: depths[size],
        stages: step.stages.map(describeStage),
        rest: round(step.rest),
      };
      predicted.push(...predictAll(`Qwen3-${size}`, step));
    }
    return {
      ...{ workers: WORKER_COUNTS, same_bytes: same, jobs_per_worker: runs.map((run) => run.jobs) },
      ...measured,
      ...{ predicted, predicted_jobs: jobs, jobs_per_stage: PREDICTED_JOBS, job: predictedJob },
      threads: 1,
    };
  } finally {
    await redis.stop();
  }
}

/** Steps on one and two pinned workers, and what the simulation predicts for both from the jobs of one
 *  worker. */
async function measureSpeedup(
  redis: RedisProcess,
  { rounds = ROUNDS, quiet = false }: BenchOptions,
): Promise<object> {
  const { one, two, otherCores } = await measureRounds(pinned, { redis, rounds, quiet });
  const ratios = one.map((step, i) => step.seconds / two[i]!.seconds);
  const cpuRatios = one.map((step, i) => cpuTime(step) / cpuTime(two[i]!));
  const typical = middleStep(one);
  const predict = (workers: number) =>
    round(simulateStep(typical, { workers, bandwidth: Infinity }), 2);
  return {
    speedup_two_workers: round(median(ratios), 2),
    speedups: ratios.map((ratio) => round(ratio, 2)),
    cpu_speedup_two_workers: round(median(cpuRatios), 2),
    cpu_speedups: cpuRatios.map((ratio) => round(ratio, 2)),
    pinned: {
      ...pinned,
      seconds: [one, two].map((steps) => steps.map(({ seconds }) => round(seconds, 2))),
      check: [one, two].map((steps, i) => ({
        workers: i + 1,
        seconds: round(median(steps.map(({ seconds }) => seconds)), 2),
        cpu_seconds: round(median(steps.map(cpuTime)), 2),
        predicted: predict(i + 1),
      })),
      stages: typical.stages.map(describeStage),
      rest: round(typical.rest),
      trainer_sent_mb: round(typical.sent / 1e6, 1),
      trainer_needs_to_send_mb: round(neededBytes(typical) / 1e6, 1),
      trainer_received_mb: round(typical.received / 1e6, 1),
      other_cores: round(otherCores, 2),
    },
  };
}

/** Seconds of a step on an idle machine, where every process runs as soon as it can: the processor time of
 *  the trainer and of the worker that worked longest. */
function cpuTime({ trainer, workers }: MeasuredStep): number {
  return trainer + Math.max(...workers);
}

/** The step with the median time. */
function middleStep(steps: readonly MeasuredStep[]): MeasuredStep {
  return steps.toSorted((a, b) => cpuTime(a) - cpuTime(b))[(steps.length - 1) >> 1]!;
}

/** Bytes of the inputs, and of the weights once. */
function neededBytes({ stages }: SimulatedStep): number {
  const roles = Object.assign({}, ...stages.map((stage) => stage.roles)) as Record<string, number>;
  const weights = Object.values(roles).reduce((sum, bytes) => sum + bytes, 0);
  return stages.reduce((sum, { jobs, input }) => sum + jobs * input, weights);
}

/** A large step of the whole model, from measured steps of its first layers. */
async function predictStep(size: Qwen3Size, redis: RedisProcess): Promise<SimulatedStep> {
  const points: [number, SimulatedStep][] = [];
  for (const layers of depths[size]!) {
    const shape = { size, layers, jobs: MEASURED_JOBS, ...predictedJob };
    points.push([layers, await measureAlone(shape, redis)]);
  }
  const { num_hidden_layers: layers } = qwen3Architecture({ size }).config;
  return withJobs(extrapolateLayers(points, layers), PREDICTED_JOBS);
}

function predictAll(model: string, step: SimulatedStep): Prediction[] {
  return GBITS.flatMap((gbit) =>
    PREDICTED_WORKERS.map((workers) => {
      const bandwidth = (gbit * 1e9) / 8;
      return {
        model,
        workers,
        gbit,
        seconds: round(simulateStep(step, { workers, bandwidth }), 1),
      };
    }),
  );
}

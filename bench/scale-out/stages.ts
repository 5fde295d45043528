import { median, round } from '../measure.ts';
import type { CpuSamples } from './cpu-samples.ts';
import type { SimulatedStage, SimulatedStep } from './simulate-step.ts';

/** A completed job: its start in milliseconds since 1970, a worker's seconds by the clock, bytes. */
export interface MeasuredJob {
  readonly kind: string;
  readonly start: number;
  readonly busy: number;
  readonly input: number;
  readonly output: number;
  readonly roles: Readonly<Record<string, number>>;
}

/** When the trainer started the jobs of a stage and had all results, and the processor time of all
 *  workers meanwhile. */
export interface StageClock {
  readonly kind: string;
  readonly start: number;
  end: number;
  readonly workersStart: number;
  workers: number;
}

interface MeasuredStage extends SimulatedStage {
  readonly kind: string;
  /** Median seconds of work per job, by the clock. */
  readonly busy: number;
}

/** A step as measured. What a simulation needs is in processor time: a busy machine hardly changes it. */
export interface MeasuredStep extends SimulatedStep {
  readonly stages: readonly MeasuredStage[];
  /** Seconds by the clock. */
  readonly seconds: number;
  /** Processor time of the trainer and of each worker. */
  readonly trainer: number;
  readonly workers: readonly number[];
  /** Bytes of the trainer's blobs. */
  readonly sent: number;
  readonly received: number;
}

interface StepRecords extends Pick<MeasuredStep, 'workers' | 'sent' | 'received'> {
  readonly start: number;
  readonly end: number;
  readonly cpu: Pick<CpuSamples, 'between'>;
  readonly clocks: readonly StageClock[];
  readonly jobs: readonly MeasuredJob[];
}

/** What a step measured, per stage. */
export function summarizeStep(records: StepRecords): MeasuredStep {
  const { start, end, cpu, clocks, jobs, workers, sent, received } = records;
  const stages = clocks.map((clock) => {
    const own = jobs.filter(({ kind }) => kind === clock.kind);
    return summarizeStage(clock, { jobs: own, cpu });
  });
  const trainer = cpu.between(start, end);
  const inStages = clocks.reduce((sum, clock) => sum + cpu.between(clock.start, clock.end), 0);
  const rest = Math.max(0, trainer - inStages);
  return { stages, rest, seconds: (end - start) / 1000, trainer, workers, sent, received };
}

function summarizeStage(
  { kind, start, end, workers }: StageClock,
  { jobs, cpu }: Pick<StepRecords, 'jobs' | 'cpu'>,
): MeasuredStage {
  const first = Math.min(...jobs.map((job) => job.start));
  const count = jobs.length;
  const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / count;
  return {
    ...{ kind, jobs: count, seconds: workers / count },
    busy: median(jobs.map((job) => job.busy)),
    input: mean(jobs.map((job) => job.input)),
    output: mean(jobs.map((job) => job.output)),
    roles: jobs[0]!.roles,
    send: cpu.between(start, first) / count,
    receive: cpu.between(first, end) / count,
  };
}

/**
 * A step of a deeper model from the steps of two shallower ones. A worker's seconds and all bytes are
 * a + b·layers. The trainer's seconds are small and noisy, so those of the second step grow with the
 * bytes of weights and outputs instead.
 * @example 3 s at 1 layer and 5 s at 2 layers  →  57 s at 28 layers
 */
export function extrapolateLayers(
  points: readonly [layers: number, step: SimulatedStep][],
  layers: number,
): SimulatedStep {
  const [[low, first], [high, second]] = points as [(typeof points)[0], (typeof points)[0]];
  const at = (x: number, y: number) => Math.max(0, x + ((y - x) * (layers - low)) / (high - low));
  const stages = first.stages.map((a, i) => {
    const b = second.stages[i]!;
    const roles = Object.keys(a.roles).map((role) => [role, at(a.roles[role]!, b.roles[role]!)]);
    const output = at(a.output, b.output);
    return {
      ...{ jobs: a.jobs, seconds: at(a.seconds, b.seconds), input: at(a.input, b.input) },
      ...{ output, roles: Object.fromEntries(roles) },
      send: b.send * (layers / high),
      receive: b.receive * (output / b.output),
    };
  });
  return { stages, rest: second.rest * (layers / high) };
}

/** The same step with another number of jobs in every stage. */
export function withJobs(step: SimulatedStep, jobs: number): SimulatedStep {
  return { ...step, stages: step.stages.map((stage) => ({ ...stage, jobs })) };
}

/** A stage for the output: seconds and megabytes per job. */
export function describeStage(stage: SimulatedStage & { readonly kind?: string }): object {
  const { kind, jobs, seconds, input, output, roles, send, receive } = stage;
  const megabytes = (bytes: number) => round(bytes / 1e6, 3);
  const weights = Object.values(roles).reduce((sum, bytes) => sum + bytes, 0);
  return {
    ...{ kind, jobs, seconds: round(seconds), send: round(send, 4), receive: round(receive, 4) },
    ...{ input_mb: megabytes(input), output_mb: megabytes(output), weights_mb: megabytes(weights) },
  };
}

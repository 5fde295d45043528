import type { RunStatus, WorkerState, WorkersState } from '../../api.ts';
import { isAlive, type Tone } from './describe-run.ts';

/** The kinds of jobs in words. */
const stages: Readonly<Record<string, string>> = {
  rollOut: 'rollouts',
  policyLogprobs: 'policy logprobs',
  refLogprobs: 'reference logprobs',
  values: 'values',
  rewardScores: 'reward scores',
  gradients: 'gradients',
};

/** The colour of each state of a worker. */
export const workerTones: Readonly<Record<WorkerState['state'], Tone>> = {
  waiting: 'quiet',
  loading: 'quiet',
  idle: 'quiet',
  busy: 'active',
  draining: 'warn',
  refused: 'bad',
};

/** The jobs that a run waits for, in words.
 *  @example step 11, gradients, 3 of 8 done  →  'Step 12: gradients, 3 of 8' */
export function describeStage({ step, stage, done, total }: WorkersState['progress']): string {
  if (stage === 'start') return 'No job yet';
  const name = `Step ${step + 1}: ${stages[stage] ?? stage}`;
  return total > 0 && done <= total ? `${name}, ${done} of ${total}` : name;
}

/** What the time of a state means: an ended run wrote its last one. It is followed by the time. */
export function describeUpdate(status: RunStatus): string {
  if (isAlive({ status })) return 'Updated';
  return status === 'killed' ? 'The run was killed; last updated' : 'When the run ended,';
}

/** Share of the time since a worker joined the run in which it worked; undefined before.
 *  @example busy 30 s of 40 s  →  0.75 */
export function efficiencyOf({ busy, wall }: Pick<WorkerState, 'busy' | 'wall'>) {
  return wall > 0 ? Math.min(1, busy / wall) : undefined;
}

/** Workers by what they are to the run: those that can take its jobs, and those that it rejected. */
export function splitWorkers(workers: readonly WorkerState[]) {
  const isRefused = ({ state }: WorkerState) => state === 'refused';
  return {
    joined: workers.filter((worker) => !isRefused(worker)),
    refused: workers.filter(isRefused),
  };
}

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A time with seconds in the reader's locale. */
export function formatExactTime(iso: string): string {
  return timeFormat.format(new Date(iso));
}

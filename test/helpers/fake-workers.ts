import type { WorkerState, WorkersState } from '../../src/dashboard/api.ts';

/** A worker that has been busy for 75 % of 40 s. */
export function fakeWorker(change: Partial<WorkerState> = {}): WorkerState {
  return {
    ...{ host: 'alpha', pid: 101, state: 'busy', message: 'gradients of step 12' },
    ...{ jobs: 30, failed: 0, busy: 30_000, wall: 40_000, sent: 2_500_000, received: 48_000_000 },
    since: '2026-01-31T12:00:00.000Z',
    ...change,
  };
}

/** The state of a queue in step 12, with two workers unless others are given. */
export function fakeWorkers(change: Partial<WorkersState> = {}): WorkersState {
  return {
    updatedAt: '2026-01-31T12:01:30.000Z',
    since: '2026-01-31T11:59:00.000Z',
    connected: true,
    progress: { step: 11, stage: 'gradients', done: 3, total: 8 },
    totals: { jobs: 52, jobsPerSecond: 1.25, retries: 2, sent: 96_000_000, received: 4_200_000 },
    workers: [
      fakeWorker(),
      fakeWorker({ host: 'beta', pid: 202, state: 'idle', message: undefined, failed: 1 }),
    ],
    ...change,
  };
}

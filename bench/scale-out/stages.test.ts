import { describe, expect, test } from 'vitest';
import { extrapolateLayers, summarizeStep, withJobs } from './stages.ts';

/** A trainer that works all the time: processor time passes like the clock. */
const busy = { between: (start: number, end: number) => (end - start) / 1000 };

describe('summarizeStep()', () => {
  const job = { kind: 'values', busy: 2, input: 10, output: 30, roles: { policy: 5 } };
  const clock = { kind: 'values', start: 1000, end: 6000, workersStart: 7, workers: 4 };
  const records = {
    ...{ start: 0, end: 8000, cpu: busy, workers: [4], sent: 1, received: 2 },
    ...{
      clocks: [clock],
      jobs: [
        { ...job, start: 2000 },
        { ...job, start: 4000, input: 20 },
      ],
    },
  };

  test('divides the times of a stage by its jobs', () => {
    const [stage] = summarizeStep(records).stages;
    // Two jobs in 4 s of the worker; the trainer sends for 1 s and receives for 4 s.
    expect(stage).toEqual({
      ...{ kind: 'values', jobs: 2, seconds: 2, busy: 2, input: 15, output: 30 },
      ...{ roles: { policy: 5 }, send: 0.5, receive: 2 },
    });
  });

  test('counts as rest what the trainer does outside of stages', () => {
    const step = summarizeStep(records);
    expect(step).toMatchObject({ seconds: 8, trainer: 8, rest: 3, workers: [4] });
  });
});

describe('extrapolateLayers()', () => {
  const stage = { jobs: 2, input: 7, output: 100, roles: { policy: 50 }, receive: 3 };
  const shallow = { stages: [{ ...stage, seconds: 3, send: 0.2 }], rest: 1 };
  const deeper = {
    stages: [{ ...stage, seconds: 5, send: 0.1, output: 200, roles: { policy: 100 } }],
    rest: 1.5,
  };

  test('continues seconds of workers and bytes linearly, those of the trainer with the bytes', () => {
    const { stages, rest } = extrapolateLayers(
      [
        [1, shallow],
        [2, deeper],
      ],
      28,
    );
    // 3 + 27·2, 100 + 27·100, 50 + 27·50; 0.1·28/2, 3·2800/200, 1.5·28/2.
    expect(stages[0]).toEqual({
      ...{ jobs: 2, seconds: 57, input: 7, output: 2800, roles: { policy: 1400 } },
      ...{ send: 0.1 * 14, receive: 42 },
    });
    expect(rest).toBe(21);
  });

  test('withJobs() changes the jobs of every stage and nothing else', () => {
    expect(withJobs(shallow, 64)).toEqual({
      stages: [{ ...stage, seconds: 3, send: 0.2, jobs: 64 }],
      rest: 1,
    });
  });
});

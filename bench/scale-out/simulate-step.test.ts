import { describe, expect, test } from 'vitest';
import { type SimulatedStage, simulateStep } from './simulate-step.ts';

const stage: SimulatedStage = {
  ...{ jobs: 1, seconds: 1, input: 0, output: 0, roles: {}, send: 0, receive: 0 },
};
const infinite = { bandwidth: Infinity };

describe('simulateStep()', () => {
  test('runs jobs in rounds if there are more than workers', () => {
    const step = { stages: [{ ...stage, jobs: 3 }], rest: 0 };
    const times = [1, 2, 3, 4].map((workers) => simulateStep(step, { workers, ...infinite }));
    expect(times).toEqual([3, 2, 1, 1]);
  });

  test('starts a stage when the one before is done', () => {
    // Two workers: 2 s for three jobs, then 4 s for one; 0.5 s of the trainer alone.
    const step = {
      stages: [
        { ...stage, jobs: 3 },
        { ...stage, seconds: 4 },
      ],
      rest: 0.5,
    };
    expect(simulateStep(step, { workers: 2, ...infinite })).toBe(6.5);
  });

  test('counts the time of the trainer before the first job and for each result', () => {
    // Sent at 4·0.25 = 1, computed at 2, results at 2.5, 3, 3.5 and 4.
    const step = { stages: [{ ...stage, jobs: 4, send: 0.25, receive: 0.5 }], rest: 0 };
    expect(simulateStep(step, { workers: 4, ...infinite })).toBe(4);
    // One worker computes until 1 + 4 = 5; only the last result adds its 0.5 s.
    expect(simulateStep(step, { workers: 1, ...infinite })).toBe(5.5);
  });

  test('moves inputs and outputs over one link', () => {
    // 100 bytes per second. Inputs in Redis at 1 and 2. Job 1: read until 2, computed at 3, written at
    // 3.5, read by the trainer until 4. Job 2: read from 2 to 3, computed at 4, written at 4.5, read at 5.
    const step = { stages: [{ ...stage, jobs: 2, input: 100, output: 50 }], rest: 0 };
    expect(simulateStep(step, { workers: 2, bandwidth: 100 })).toBe(5);
    // One worker reads the second input after it has written the first output at 3.5: 3.5 + 0.5 for the
    // trainer's reading of that output in between, 1 to read, 1 to compute, 0.5 + 0.5 to return.
    expect(simulateStep(step, { workers: 1, bandwidth: 100 })).toBe(7);
  });

  test('sends weights once and lets each worker read them once', () => {
    // 200 bytes in Redis at 2; the two workers have read them at 4 and 6, and computed at 5 and 7.
    const roles = { policy: 200 };
    const first = { ...stage, jobs: 2, roles };
    expect(simulateStep({ stages: [first], rest: 0 }, { workers: 2, bandwidth: 100 })).toBe(7);
    // The next stage needs no transfer.
    const both = { stages: [first, first], rest: 0 };
    expect(simulateStep(both, { workers: 2, bandwidth: 100 })).toBe(8);
    // One worker: 2 to send, 2 to read, two jobs.
    expect(simulateStep({ stages: [first], rest: 0 }, { workers: 1, bandwidth: 100 })).toBe(6);
  });

  test('is bound by the link if there are many workers', () => {
    // 64 outputs of 100 bytes leave at 1 and arrive at 2 … 65, each read by the trainer 1 s later.
    const step = { stages: [{ ...stage, jobs: 64, output: 100 }], rest: 0 };
    expect(simulateStep(step, { workers: 64, bandwidth: 100 })).toBe(66);
  });
});

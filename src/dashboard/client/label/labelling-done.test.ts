import { describe, expect, test } from 'vitest';
import type { LabelQueue, RunSummary } from '../../api.ts';
import { describeEnd, hasEnded } from './labelling-done.tsx';

const run = (status: RunSummary['status'], message: string | null = null) =>
  ({ id: 'r', status, message }) as RunSummary;
const live = { live: true, run: 'r' } as LabelQueue;

describe('the run of a live queue', () => {
  test.each(['running', 'paused', 'waiting'] as const)('has not ended while %s', (status) => {
    expect(hasEnded(live, [run(status)])).toBe(false);
  });

  test('has ended if it is done, killed or deleted', () => {
    expect(hasEnded(live, [run('completed')])).toBe(true);
    expect(hasEnded(live, [run('killed')])).toBe(true);
    expect(hasEnded(live, [])).toBe(true);
  });

  test('is not asked for by other queues', () => {
    expect(hasEnded({ ...live, live: false }, [run('completed')])).toBe(false);
  });

  test('describeEnd() says whether scores may still be needed', () => {
    expect(describeEnd(run('completed', 'All steps are done'))).toBe(
      'The run is complete. It needs no more scores.',
    );
    expect(describeEnd(run('failed', 'Out of memory'))).toBe(
      'The run has failed (Out of memory). It needs no scores unless it is resumed.',
    );
    expect(describeEnd(undefined)).toBe('The run was deleted. It needs no more scores.');
  });
});

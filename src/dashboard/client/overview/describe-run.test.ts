import { describe, expect, test } from 'vitest';
import { formatDuration, formatTime, progressOf, refuseCommand } from './describe-run.ts';

describe('formatDuration()', () => {
  test('uses the two largest units', () => {
    const texts = [0, 42.4, 60, 3725, 90_000, -3].map(formatDuration);
    expect(texts).toEqual(['0 s', '42 s', '1 min 0 s', '1 h 2 min', '1 d 1 h', '0 s']);
  });
});

describe('refuseCommand()', () => {
  test('a running run can be paused, saved and stopped, not resumed', () => {
    const refusals = (['pause', 'resume', 'save', 'stop'] as const).map((command) =>
      refuseCommand({ status: 'running' }, command),
    );
    expect(refusals).toEqual([undefined, 'The run is not paused', undefined, undefined]);
  });

  test('a paused run can be resumed, not paused', () => {
    expect(refuseCommand({ status: 'paused' }, 'pause')).toBe('The run is already paused');
    expect(refuseCommand({ status: 'paused' }, 'resume')).toBeUndefined();
  });

  test('a run that has ended accepts no command', () => {
    expect(refuseCommand({ status: 'completed' }, 'save')).toBe(
      'The run has ended: it is completed',
    );
  });
});

describe('progressOf()', () => {
  test('is a fraction of at most 1, and undefined if the length is unknown', () => {
    expect(progressOf({ step: 30, totalSteps: 120 })).toBe(0.25);
    expect(progressOf({ step: 9, totalSteps: 8 })).toBe(1);
    expect(progressOf({ step: 9, totalSteps: null })).toBeUndefined();
    expect(progressOf({ step: 0, totalSteps: 0 })).toBeUndefined();
  });
});

describe('formatTime()', () => {
  test('leaves text that is not a time unchanged', () => {
    expect(formatTime('yesterday')).toBe('yesterday');
  });
});

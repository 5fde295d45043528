import { describe, expect, test } from 'vitest';
import {
  commandsFor,
  explainNoMetrics,
  formatDuration,
  formatTime,
  progressOf,
} from './describe-run.ts';

describe('formatDuration()', () => {
  test('uses the two largest units', () => {
    const texts = [0, 42.4, 60, 3725, 90_000, -3].map(formatDuration);
    expect(texts).toEqual(['0 s', '42 s', '1 min 0 s', '1 h 2 min', '1 d 1 h', '0 s']);
  });
});

describe('commandsFor()', () => {
  test('a running or waiting run can be paused, saved and stopped', () => {
    expect(commandsFor({ status: 'running' })).toEqual(['pause', 'save', 'stop']);
    expect(commandsFor({ status: 'waiting' })).toEqual(['pause', 'save', 'stop']);
  });

  test('a paused run can be resumed instead', () => {
    expect(commandsFor({ status: 'paused' })).toEqual(['resume', 'save', 'stop']);
  });

  test('a run that has ended accepts no command', () => {
    for (const status of ['completed', 'converged', 'killed', 'failed', 'interrupted'] as const) {
      expect(commandsFor({ status })).toEqual([]);
    }
  });
});

describe('explainNoMetrics()', () => {
  test('matches the state of the run', () => {
    const texts = (['running', 'waiting', 'failed'] as const).map((status) =>
      explainNoMetrics({ status }),
    );
    expect(texts).toEqual([
      'No metrics yet: the first step is running.',
      'No metrics yet: the run is waiting for scores before its first step.',
      'No metrics: the run ended before its first step was complete.',
    ]);
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

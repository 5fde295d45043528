import { describe, expect, test } from 'vitest';
import { lastVerdict, listWarnings } from './verdict-panel.tsx';

describe('lastVerdict()', () => {
  const verdict = (step: number, convergence: object) => ({ step, convergence });

  test('is that of the latest evaluation', () => {
    const rows = [
      verdict(5, { message: 'It fell', performanceImproved: false }),
      verdict(9, { message: 'It rises', performanceImproved: true }),
      { step: 12, 'eval/loss': 2 },
    ];
    expect(lastVerdict(rows)).toEqual({ step: 9, message: 'It rises', tone: 'good' });
    expect(lastVerdict(rows.slice(0, 1))!.tone).toBe('quiet');
    expect(lastVerdict(rows.slice(2))).toBeUndefined();
  });

  test('is bad if a rule stopped the run because of a problem, good if it has converged', () => {
    expect(lastVerdict([verdict(1, { message: 'm', stop: 'collapsed' })])!.tone).toBe('bad');
    expect(lastVerdict([verdict(1, { message: 'm', stop: 'converged' })])!.tone).toBe('good');
  });
});

describe('listWarnings()', () => {
  test('lists a warning once, with its latest step and a count', () => {
    const row = (step: number, message: string, type: 'warning' | 'start' = 'warning') => ({
      time: '',
      step,
      type,
      message,
    });
    const log = [
      row(0, 'Began', 'start'),
      row(3, 'KL is high'),
      row(4, 'Slow'),
      row(5, 'KL is high'),
    ];
    expect(listWarnings(log)).toEqual([
      { message: 'KL is high', step: 5, times: 2 },
      { message: 'Slow', step: 4, times: 1 },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import type { LabelChoice } from '../api.ts';
import { measureAgreement } from './agreement.ts';

const pair = (choice: 0 | 1 | 'tie' | 'both-bad'): LabelChoice => ({ kind: 'pair', choice });
const rating = (value: number): LabelChoice => ({ kind: 'rating', rating: value });
const ranking = (...order: number[]): LabelChoice => ({ kind: 'ranking', order });

describe('measureAgreement()', () => {
  it('counts tasks of several people on which all say the same', () => {
    const tasks = [[pair(0), pair(0)], [pair(1), pair(1)], [pair(0), pair(1)], [pair('tie')], []];
    const { agreement, alpha } = measureAgreement(tasks, 'pair');
    expect(agreement).toBeCloseTo(2 / 3, 12);
    expect(alpha).toBeCloseTo(4 / 9, 12);
  });

  it('takes a tie and both bad for different answers', () => {
    expect(measureAgreement([[pair('tie'), pair('both-bad')]], 'pair').agreement).toBe(0);
  });

  it('lets ratings be 1 apart, also of three people', () => {
    const tasks = [
      [rating(4), rating(5)],
      [rating(2), rating(4)],
      [rating(3), rating(4), rating(5)],
      [rating(1), rating(1), rating(2)],
    ];
    expect(measureAgreement(tasks, 'rating').agreement).toBe(0.5);
  });

  it('looks at the best of rankings', () => {
    const tasks = [
      [ranking(2, 0, 1), ranking(2, 1, 0)],
      [ranking(0, 1, 2), ranking(1, 0, 2)],
    ];
    expect(measureAgreement(tasks, 'ranking').agreement).toBe(0.5);
  });

  it('is undefined where nothing was answered twice', () => {
    expect(measureAgreement([[pair(0)], []], 'pair')).toEqual({ agreement: null, alpha: null });
  });
});

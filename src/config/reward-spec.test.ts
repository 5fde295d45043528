import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRewardSpec } from './reward-spec.ts';

describe('parseRewardSpec()', () => {
  test.each([
    ['reward.ts', { kind: 'file', place: 'reward.ts', weight: 1 }],
    ['a=b.ts=2', { kind: 'file', place: 'a=b.ts', weight: 2 }],
    ['model:runs/rm=0.5', { kind: 'model', place: 'runs/rm', weight: 0.5 }],
    ['human', { kind: 'live', place: 'human', weight: 1 }],
    ['human=0.5', { kind: 'live', place: 'human', weight: 0.5 }],
    ['humane', { kind: 'library', place: 'humane', weight: 1 }],
    ['human:s.jsonl=-1e-1', { kind: 'human', place: 's.jsonl', weight: -0.1 }],
    ['http://host/score=3', { kind: 'server', place: 'http://host/score', weight: 3 }],
    ['https://host/score?v=2', { kind: 'server', place: 'https://host/score?v=2', weight: 1 }],
  ])('reads %s', (text, spec) => {
    expect(parseRewardSpec(text)).toEqual(spec);
  });

  test('reads any weight', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (weight) => {
        expect(parseRewardSpec(`r.ts=${weight}`).weight).toBe(Number(String(weight)));
      }),
    );
  });
});

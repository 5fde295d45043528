import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatRewardSpec,
  parseRewardSpec,
  splitRewardSpec,
  withoutRewardSecrets,
} from './reward-spec.ts';

describe('parseRewardSpec()', () => {
  test.each([
    ['reward.ts', { kind: 'file', place: 'reward.ts', weight: 1 }],
    ['./a=b.ts=2', { kind: 'file', place: './a=b.ts', weight: 2 }],
    ['a=b.ts=2', { name: 'a', kind: 'file', place: 'b.ts', weight: 2 }],
    [
      'polite=keyword:please',
      { name: 'polite', kind: 'library', place: 'keyword:please', weight: 1 },
    ],
    ['flesch=0.5', { kind: 'library', place: 'flesch=0.5', weight: 1 }],
    ['easy=flesch=0.5', { name: 'easy', kind: 'library', place: 'flesch=0.5', weight: 1 }],
    ['rm-2=model:runs/rm=0.5', { name: 'rm-2', kind: 'model', place: 'runs/rm', weight: 0.5 }],
    ['people=human=2', { name: 'people', kind: 'live', place: 'human', weight: 2 }],
    [
      'judge=https://host/score?v=2',
      { name: 'judge', kind: 'server', place: 'https://host/score?v=2', weight: 1 },
    ],
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

  const names = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,8}$/);
  const paths = fc.stringMatching(/^\.?\/[a-z=.\d ]{0,9}\.ts$/);
  const specs = fc.oneof(
    fc.record({ kind: fc.constant('file' as const), place: paths }),
    fc.record({ kind: fc.constantFrom('human' as const, 'model' as const), place: paths }),
    fc.record({ kind: fc.constant('live' as const), place: fc.constant('human') }),
    fc.record({ kind: fc.constant('server' as const), place: fc.webUrl() }),
  );
  const weights = fc.constantFrom(1, -1, 0.5, 2e-3, 1e21);

  test('reads what formatRewardSpec() writes, with and without a name', () => {
    fc.assert(
      fc.property(specs, weights, fc.option(names, { nil: undefined }), (spec, weight, name) => {
        const whole = { ...(name !== undefined && { name }), ...spec, weight };
        expect(splitRewardSpec(formatRewardSpec(whole))).toEqual(whole);
      }),
    );
  });

  test('a name changes nothing but the name', () => {
    fc.assert(
      fc.property(names, specs, weights, (name, spec, weight) => {
        const text = formatRewardSpec({ ...spec, weight });
        expect(splitRewardSpec(`${name}=${text}`)).toEqual({ name, ...splitRewardSpec(text) });
      }),
    );
  });

  test('splits any text without an error, and loses nothing of a library reward', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const { name, kind, place } = splitRewardSpec(text);
        if (kind === 'library') expect(name === undefined ? place : `${name}=${place}`).toBe(text);
      }),
    );
  });
});

test('withoutRewardSecrets() changes only the URLs of servers', () => {
  expect(withoutRewardSecrets('judge=https://me:pass@host/score=0.5')).toBe(
    'judge=https://host/score=0.5',
  );
  expect(withoutRewardSecrets('http://host/score?key=1')).toBe('http://host/score');
  const pattern = 'regex:pattern=https://me:pass@host/a?b';
  expect(withoutRewardSecrets(pattern)).toBe(pattern);
});

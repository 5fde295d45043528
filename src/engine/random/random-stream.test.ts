import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RandomState, randomStream, type StreamKey } from './index.ts';
import { Sfc32 } from './random-stream.ts';

type Keys = [StreamKey, ...StreamKey[]];

const take = <T>(count: number, sample: () => T) => Array.from({ length: count }, sample);

/** Printed by tools/oracle/random/print_goldens.py; they must never change. */
const goldens: { keys: Keys; next: number[]; normal: number[]; six: number[]; order: number[] }[] =
  [
    {
      keys: [42, 'sampling', 7, 0, 3, 11],
      next: [0.4225351490336946, 0.42452772177244125, 0.6041931928329465, 0.921572522188229],
      normal: [-0.9323212818694248, 1.1995060491979836, 1.0717150480698994],
      six: [2, 4, 4, 5, 1, 1, 1, 3, 0, 5],
      order: [9, 2, 7, 6, 3, 1, 5, 0, 4, 8],
    },
    {
      keys: ['seed', 'Daten – 数据 🎲 "\\\n', -1],
      next: [0.6741034456754215, 0.49057091102233363, 0.3870996285748556, 0.13923401023725845],
      normal: [-1.494820801641804, 0.6343916968335771, -0.8921025835185206],
      six: [1, 3, 2, 0, 4, 5, 5, 0, 5, 5],
      order: [7, 5, 0, 8, 3, 4, 9, 2, 6, 1],
    },
  ];

test.each(goldens)('randomStream() always returns the same numbers: $keys', (golden) => {
  const start = () => randomStream(...golden.keys);
  let stream = start();
  expect(take(4, () => stream.next())).toEqual(golden.next);
  stream = start();
  take(3, () => stream.normal()).forEach((value, i) => {
    expect(value).toBeCloseTo(golden.normal[i]!, 14);
  });
  stream = start();
  expect(take(10, () => stream.integer(6))).toEqual(golden.six);
  expect(start().shuffle([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])).toEqual(golden.order);
});

describe('randomStream()', () => {
  test('randomStream() distinguishes keys with similar text', () => {
    const streams: Keys[] = [
      [0],
      ['0'],
      [0, 'a', 1],
      [0, 'a1'],
      [0, 'a', '1'],
      [0, 'a,1'],
      [0, 'a","1'],
      [0, '["a",1]'],
      [0, 1, 'a'],
      [0, 'a', 1, ''],
      [0, 1, 2],
      [0, 12],
      [0, 1.2],
      [0, -12],
      [0, '\ud800'],
      [0, '\ud801'],
      [0, '�'],
    ];
    const first = streams.map((keys) => randomStream(...keys).next());
    expect(new Set(first).size).toBe(streams.length);
  });

  test('randomStream() starts over in each call', () => {
    const one = randomStream(1, 'a');
    one.next();
    expect(randomStream(1, 'a').next()).not.toBe(one.next());
    expect(randomStream(1, 'a').next()).toBe(randomStream(1, 'a').next());
    expect(randomStream(1, -0).next()).toBe(randomStream(1, 0).next());
  });

  test.each([Number.NaN, Infinity, undefined, null, 1n])('randomStream() rejects %s', (key) => {
    expect(() => randomStream(1, key as number)).toThrow(
      `Cannot create a random stream: seed and keys must be strings or finite numbers, got ${key}`,
    );
  });
});

describe('RandomStream', () => {
  test('integer() stays below n for every n up to 2⁵³ − 1', () => {
    const stream = randomStream(3, 'integer');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (n) => {
        const sampled = stream.integer(n);
        expect(Number.isInteger(sampled) && sampled >= 0 && sampled < n).toBe(true);
      }),
    );
    expect(stream.integer(1)).toBe(0);
  });

  test('integer() has no modulo bias', () => {
    // With n = ¾ · 2⁵³, plain modulo would put half of the samples below n/3.
    const n = 0.75 * 2 ** 53;
    const stream = randomStream(4, 'bias');
    const low = take(9000, () => stream.integer(n)).filter((sampled) => sampled < n / 3).length;
    expect(Math.abs(low - 3000)).toBeLessThan(4 * Math.sqrt(9000 * (1 / 3) * (2 / 3)));
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 53])('integer() rejects %s', (n) => {
    expect(() => randomStream(1).integer(n)).toThrow(
      `Cannot sample an integer: n must be a whole number from 1 to 2⁵³ − 1, got ${n}`,
    );
  });

  test('shuffle() returns a new array with the same elements', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer(), (items, seed) => {
        const before = [...items];
        const shuffled = randomStream(seed).shuffle(items);
        expect(items).toEqual(before);
        expect(shuffled).not.toBe(items);
        expect(shuffled.toSorted()).toEqual(before.toSorted());
      }),
    );
  });

  test('restore() continues like an uninterrupted stream, also through JSON', () => {
    const whole = randomStream(5, 'resume');
    take(7, () => whole.normal());
    const saved = JSON.parse(JSON.stringify(whole.state()));
    const expected = take(5, () => [whole.next(), whole.normal(), whole.integer(10)]);
    const resumed = randomStream('another');
    resumed.restore(saved);
    expect(take(5, () => [resumed.next(), resumed.normal(), resumed.integer(10)])).toEqual(
      expected,
    );
    expect(resumed.state()).toEqual(whole.state());
  });

  test.each([
    [[1, 2, 3]],
    [[1, 2, 3, -1]],
    [[1, 2, 3, 2 ** 32]],
    [[1, 2, 3, 0.5]],
    [[1, 2, 3, '4']],
    [{ a: 1 }],
  ])('restore() rejects %j and changes nothing', (state) => {
    const stream = randomStream(6);
    const before = stream.state();
    expect(() => stream.restore(state as unknown as RandomState)).toThrow(
      'Cannot restore a random stream: the state must be four whole numbers from 0 to 2³² − 1, ' +
        `got ${JSON.stringify(state)}`,
    );
    expect(stream.state()).toEqual(before);
  });
});

const takeWords = (count: number, generator: Sfc32) =>
  Array.from({ length: count }, () => generator.nextWord());

test('Sfc32 returns the words of the reference implementation', () => {
  // PractRand's sfc32::seed(0, 2, 1), as published with the Rust crate rand_sfc; also printed by
  // tools/oracle/random/print_goldens.py.
  expect(takeWords(16, new Sfc32([0, 2, 1]))).toEqual([
    0x03b80bb8, 0xa87dbc7e, 0x1787178c, 0x4c7b7234, 0xc65dade2, 0x2c692349, 0xf52c2153, 0xdf098072,
    0x9d49b03c, 0x9562381a, 0xc9b41738, 0x64b75e54, 0x36ce9b32, 0xf106947e, 0x0afc726b, 0x549bbc87,
  ]);
});

test('Sfc32 accepts any 32-bit seed words and counts its outputs', () => {
  const generator = new Sfc32([0xffffffff, 0x80000000, 0xdeadbeef]);
  const [, , , counter] = generator.state();
  expect(counter).toBe(16);
  for (const word of generator.state()) expect(word).toBeGreaterThanOrEqual(0);
});

test('Sfc32 continues after its counter wraps at 2³²', () => {
  const generator = new Sfc32([1, 2, 3]);
  generator.restore([0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff]);
  expect(generator.nextWord()).toBe(0xfffffffd);
  expect(generator.state()).toEqual([0xff800000, 0xfffffff7, 0xfffffffc, 0]);
});

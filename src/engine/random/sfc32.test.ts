import { expect, test } from 'vitest';
import { Sfc32 } from './sfc32.ts';

const take = (count: number, generator: Sfc32) =>
  Array.from({ length: count }, () => generator.nextWord());

test('Sfc32 gives the words of the reference implementation', () => {
  // PractRand's sfc32::seed(0, 2, 1), as published with the Rust crate rand_sfc; also printed by
  // tools/oracle/random/print_goldens.py.
  expect(take(16, new Sfc32([0, 2, 1]))).toEqual([
    0x03b80bb8, 0xa87dbc7e, 0x1787178c, 0x4c7b7234, 0xc65dade2, 0x2c692349, 0xf52c2153, 0xdf098072,
    0x9d49b03c, 0x9562381a, 0xc9b41738, 0x64b75e54, 0x36ce9b32, 0xf106947e, 0x0afc726b, 0x549bbc87,
  ]);
});

test('Sfc32 takes seed words of any 32 bits and counts its outputs', () => {
  const generator = new Sfc32([0xffffffff, 0x80000000, 0xdeadbeef]);
  const [, , , counter] = generator.state();
  expect(counter).toBe(16);
  for (const word of generator.state()) expect(word).toBeGreaterThanOrEqual(0);
});

test('Sfc32 carries its counter over 2³² and goes on', () => {
  const generator = new Sfc32([1, 2, 3]);
  generator.restore([0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff]);
  expect(generator.nextWord()).toBe(0xfffffffd);
  expect(generator.state()).toEqual([0xff800000, 0xfffffff7, 0xfffffffc, 0]);
});

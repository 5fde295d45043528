import { describe, expect, test } from 'vitest';
import { expectGradient } from '../../../../test/helpers/engine/expect-gradient.ts';
import type { Sample } from '../../../../test/helpers/engine/samples/sample.ts';
import {
  opsWithoutGradient,
  testOpGradients,
} from '../../../../test/helpers/engine/test-gradients.ts';
import type { Op, Value } from '../value.ts';
import { mul, mulOp } from './elementwise.ts';
import { type OpName, ops } from './index.ts';

const names = Object.keys(ops) as OpName[];

describe('gradients of ops', () => {
  // gradients.slow.test.ts has many more samples.
  testOpGradients(6);

  test.each(opsWithoutGradient)('%s has no gradient rule', (name) => {
    expect((ops[name] as Op).vjp).toBeUndefined();
  });

  test('every op is in the table under its own name', () => {
    expect(names.map((name) => ops[name].name)).toEqual(names);
  });
});

test('the comparison with finite differences finds a gradient that is 1% off', async () => {
  const wrong: Op = {
    ...(mulOp as Op),
    vjp: ({ inputs: [a, b] }, dy) => [mul(mul(dy, b!), 1.01), mul(dy, a!)],
  };
  const call = ({ a, b }: { a: Value; b: Value }) => ({ ...mul(a, b), op: wrong });
  const sample: Sample = {
    inputs: { a: { shape: ['A'], kind: 'nonzero' }, b: { shape: ['A'], kind: 'nonzero' } },
    attributes: {},
  };
  const sizes = [{ seed: 1, sizes: { A: 8 } }];
  await expect(expectGradient(call, { sample, runs: sizes })).rejects.toThrow(/^d\(a\) at/);
  await expectGradient(({ a, b }: { a: Value; b: Value }) => mul(a, b), { sample, runs: sizes });
});

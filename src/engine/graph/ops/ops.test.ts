import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callOp } from '../../../../test/helpers/engine/call-op.ts';
import { expectGradient } from '../../../../test/helpers/engine/expect-gradient.ts';
import { opSamples } from '../../../../test/helpers/engine/samples/ops.ts';
import type { Sample } from '../../../../test/helpers/engine/samples/sample.ts';
import { runs } from '../../../../test/helpers/engine/samples/shapes.ts';
import type { Op, Value } from '../value.ts';
import { mul, mulOp } from './elementwise.ts';
import { type OpName, ops } from './index.ts';

const names = Object.keys(ops) as OpName[];
const stopping = names.filter((name) => opSamples[name] === 'no gradient');
const differentiable = names.filter((name) => opSamples[name] !== 'no gradient');

describe('gradients of ops', () => {
  test.each(differentiable)(
    'the gradient of %s equals finite differences',
    async (name) => {
      const samples = opSamples[name] as fc.Arbitrary<Sample>;
      const call = callOp[name as keyof typeof callOp];
      await fc.assert(
        fc.asyncProperty(samples, runs, (sample, sizes) =>
          expectGradient(call, { sample, runs: sizes }),
        ),
        { numRuns: 40 },
      );
    },
    60_000,
  );

  test.each(stopping)('%s has no gradient rule', (name) => {
    expect((ops[name] as Op).vjp).toBeUndefined();
  });

  test('every op stands in the table under its own name', () => {
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
    inputs: { a: { shape: ['A'], draw: 'nonzero' }, b: { shape: ['A'], draw: 'nonzero' } },
    attributes: {},
  };
  const sizes = [{ seed: 1, sizes: { A: 8 } }];
  await expect(expectGradient(call, { sample, runs: sizes })).rejects.toThrow(/^d\(a\) at/);
  await expectGradient(({ a, b }: { a: Value; b: Value }) => mul(a, b), { sample, runs: sizes });
});

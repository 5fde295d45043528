import * as fc from 'fast-check';
import { test } from 'vitest';
import { type OpName, ops } from '../../../src/engine/graph/ops/index.ts';
import { callFunction, type FunctionName } from './call-function.ts';
import { type Call, callOp } from './call-op.ts';
import { expectGradient } from './expect-gradient.ts';
import { functionSamples } from './samples/functions.ts';
import { opSamples } from './samples/ops.ts';
import type { Sample } from './samples/sample.ts';
import { runs } from './samples/shapes.ts';

/** The ops without a gradient. */
export const opsWithoutGradient = (Object.keys(ops) as OpName[]).filter(
  (name) => opSamples[name] === 'no gradient',
);

/** One test per differentiable op: its gradient equals finite differences in `numRuns` random samples. */
export function testOpGradients(numRuns: number): void {
  const names = (Object.keys(ops) as OpName[]).filter((name) => !opsWithoutGradient.includes(name));
  testGradients(names, {
    numRuns,
    callOf: (name) => callOp[name as keyof typeof callOp],
    samplesOf: (name) => opSamples[name] as fc.Arbitrary<Sample>,
  });
}

/** The same for each function that is composed of ops. */
export function testFunctionGradients(numRuns: number): void {
  testGradients(Object.keys(callFunction) as FunctionName[], {
    numRuns,
    callOf: (name) => callFunction[name],
    samplesOf: (name) => functionSamples[name],
  });
}

interface GradientTests<N> {
  readonly numRuns: number;
  readonly callOf: (name: N) => Call;
  readonly samplesOf: (name: N) => fc.Arbitrary<Sample>;
}

function testGradients<N extends string>(
  names: readonly N[],
  { numRuns, callOf, samplesOf }: GradientTests<N>,
): void {
  test.each(names)(
    'the gradient of %s equals finite differences',
    async (name) => {
      const property = fc.asyncProperty(samplesOf(name), runs, (sample, sizes) =>
        expectGradient(callOf(name), { sample, runs: sizes }),
      );
      await fc.assert(property, { numRuns });
    },
    60_000,
  );
}

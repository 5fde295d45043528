import { readdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callFunction, type FunctionName } from '../../../test/helpers/engine/call-function.ts';
import { expectGradient } from '../../../test/helpers/engine/expect-gradient.ts';
import { functionSamples } from '../../../test/helpers/engine/samples/functions.ts';
import { runs } from '../../../test/helpers/engine/samples/shapes.ts';
import { float32, testRefusals } from '../../../test/helpers/engine/test-refusals.ts';
import * as functions from './functions.ts';
import { attention } from './functions.ts';
import { ops } from './ops/index.ts';

const names = Object.keys(callFunction) as FunctionName[];

const isFunction = ([, value]: [string, unknown]) => typeof value === 'function';

/** Names of the functions that `functions.ts` and the modules in `ops` export. */
async function exportedFunctions(): Promise<string[]> {
  const url = new URL('./ops/', import.meta.url);
  const files = readdirSync(url).filter((file) => !file.endsWith('.test.ts'));
  const ops = await Promise.all(files.map((file) => import(new URL(file, url).href)));
  const modules: object[] = [...ops, functions];
  return modules.flatMap((module) =>
    Object.entries(module)
      .filter(isFunction)
      .map(([name]) => name),
  );
}

describe('gradients of functions', () => {
  test.each(names)(
    'the gradient of %s equals finite differences',
    async (name) => {
      await fc.assert(
        fc.asyncProperty(functionSamples[name], runs, (sample, sizes) =>
          expectGradient(callFunction[name], { sample, runs: sizes }),
        ),
        { numRuns: 40 },
      );
    },
    60_000,
  );

  test('every exported function that is not an op has samples', async () => {
    const exported = await exportedFunctions();
    const composed = exported.filter((name) => !(name in ops) && name !== 'toValue');
    expect([...composed, 'loraLinear'].sort()).toEqual(names.toSorted());
  });
});

testRefusals('attention refuses', [
  [
    'query heads that do not divide into groups',
    () =>
      attention({
        q: float32([1, 3, 4, 2]),
        k: float32([1, 2, 4, 2]),
        v: float32([1, 2, 4, 2]),
        bias: float32([4, 4]),
      }),
    new TypeError(
      'Cannot apply attention: heads of q must be a multiple of those of k and v, got float32[1,3,4,2] and float32[1,2,4,2] and float32[1,2,4,2]',
    ),
  ],
]);

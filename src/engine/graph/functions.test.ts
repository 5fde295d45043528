import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { callFunction } from '../../../test/helpers/engine/call-function.ts';
import { testFunctionGradients } from '../../../test/helpers/engine/test-gradients.ts';
import { float32, testRejections } from '../../../test/helpers/engine/test-rejections.ts';
import * as functions from './functions.ts';
import { attention } from './functions.ts';
import { ops } from './ops/index.ts';

const names = Object.keys(callFunction);

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
  // gradients.slow.test.ts has many more samples.
  testFunctionGradients(6);

  test('every exported function that is not an op has samples', async () => {
    const exported = await exportedFunctions();
    const composed = exported.filter((name) => !(name in ops) && name !== 'toValue');
    expect([...composed, 'loraLinear'].sort()).toEqual(names.toSorted());
  });
});

testRejections('attention rejects', [
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

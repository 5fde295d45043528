import { readdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callFunction, type FunctionName } from '../../../../test/helpers/engine/call-function.ts';
import { expectGradient } from '../../../../test/helpers/engine/expect-gradient.ts';
import { functionSamples } from '../../../../test/helpers/engine/samples/functions.ts';
import { runs } from '../../../../test/helpers/engine/samples/shapes.ts';
import { ops } from '../ops/index.ts';

const names = Object.keys(callFunction) as FunctionName[];

/** Names of the functions that the modules of a folder beside this one export. */
async function exportedFunctions(folder: string): Promise<string[]> {
  const url = new URL(`../${folder}/`, import.meta.url);
  const files = readdirSync(url).filter((file) => !file.endsWith('.test.ts'));
  const modules = await Promise.all(files.map((file) => import(new URL(file, url).href)));
  return modules.flatMap((module: Record<string, unknown>) =>
    Object.keys(module).filter((name) => typeof module[name] === 'function'),
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
    const exported = [
      ...(await exportedFunctions('functions')),
      ...(await exportedFunctions('ops')),
    ];
    const composed = exported.filter((name) => !(name in ops) && name !== 'toValue');
    expect(composed.sort()).toEqual(names.toSorted());
  });
});

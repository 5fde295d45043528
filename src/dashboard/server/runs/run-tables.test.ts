import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  appendFakeRows,
  fakeSample,
  fakeTokens,
  writeFakeRun,
} from '../../../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../../../test/helpers/runtime-temp-folder.ts';
import { RunTables } from './run-tables.ts';

test('samples of the same prompt in a step have their own tokens', async () => {
  const folder = join(makeTempFolder(), 'run');
  writeFakeRun(folder, { steps: 1, samples: 0 });
  const place = { step: 1, promptIdx: 0, sample: 0 };
  const responses = ['first', 'second', 'third'];
  appendFakeRows(
    join(folder, 'samples.jsonl'),
    responses.map((response) => ({ ...fakeSample(0, 3), ...place, response })),
  );
  appendFakeRows(
    join(folder, 'tokens.jsonl'),
    ['first', 'second'].map((text) => ({ ...fakeTokens(0, 3), ...place, texts: [text] })),
  );
  const tables = new RunTables(folder);
  const { rows } = await tables.samples({});
  expect(rows.map(({ hasTokens }) => hasTokens)).toEqual([true, true, false]);
  expect((await tables.tokens(0)).texts).toEqual(['first']);
  expect((await tables.tokens(1)).texts).toEqual(['second']);
  await expect(tables.tokens(2)).rejects.toThrow('The run did not record the tokens of sample 2');
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeMutants } from '../../../../test/helpers/parquet-mutants.ts';
import { makeTempFolder } from '../../../../test/helpers/runtime-temp-folder.ts';
import { groupsFromFile, groupsFromSamples } from './response-groups.ts';

const row = (step: number, prompt: string, response: string, sample = 0) =>
  `${JSON.stringify({ step, promptIdx: 3, sample, prompt, response, score: null, kl: 0 })}\n`;

function makeRun(text: string) {
  const folder = makeTempFolder();
  writeFileSync(join(folder, 'samples.jsonl'), text);
  return { id: 'r1', name: 'a', folder };
}

it('groupsFromSamples() returns each different response once, with its first origin', async () => {
  const run = makeRun(
    row(1, 'p', 'one') +
      row(1, 'q', 'two\u2028lines') +
      row(2, 'p', 'one') +
      row(2, 'p', ' ') +
      row(3, 'p', 'three', 1),
  );
  expect(await groupsFromSamples(run)).toEqual([
    {
      prompt: 'p',
      responses: [
        { text: 'one', from: { run: 'a', step: 1, sample: 0 } },
        { text: 'three', from: { run: 'a', step: 3, sample: 1 } },
      ],
    },
    {
      prompt: 'q',
      responses: [{ text: 'two\u2028lines', from: { run: 'a', step: 1, sample: 0 } }],
    },
  ]);
});

it('groupsFromSamples() starts at a step and ignores an incomplete last line', async () => {
  const run = makeRun(`${row(1, 'p', 'one') + row(2, 'p', 'two')}{"step":3,"prompt":"p","resp`);
  const [group] = await groupsFromSamples(run, { fromStep: 2 });
  expect(group!.responses.map(({ text }) => text)).toEqual(['two']);
});

it('groupsFromSamples() reports a run without samples', async () => {
  const run = { id: 'r1', name: 'a', folder: makeTempFolder() };
  await expect(groupsFromSamples(run)).rejects.toThrow(
    'Cannot take samples of a: the run has not recorded any yet',
  );
});

it('groupsFromFile() survives damaged Parquet files, since a training may share the process', async () => {
  const path = join(makeTempFolder(), 'pairs.parquet');
  const options = { name: 'pairs.parquet', min: 2, max: 2 };
  for (const bytes of makeMutants(40)) {
    writeFileSync(path, bytes);
    await expect(groupsFromFile(path, options)).rejects.toThrow(/^Cannot read pairs\.parquet/);
  }
});

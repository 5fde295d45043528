import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeFakeRun } from '../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { type HumanEvaluation, latestHumanEvaluations } from './human-evaluation.ts';
import { readHumanEvaluations, recordHumanEvaluation } from './record-human-evaluation.ts';

const human: HumanEvaluation = {
  ...{ queue: 'a-1', against: 'reference', kind: 'pair', prompts: 4, judged: 4, equal: 0 },
  ...{ answers: 4, labellers: 1, wins: 3, ties: 0, losses: 1, winRate: 0.75 },
  ...{ interval: [0.3, 0.95], ratings: null, agreement: null, alpha: null, time: 'now' },
};

test('latestHumanEvaluations() returns the latest of each queue in the order of steps', () => {
  const at = (step: number, change: Partial<HumanEvaluation>) => {
    return { step, human: { ...human, ...change } };
  };
  const rows = [
    { step: 0, performance: {} },
    at(9, { queue: 'a' }),
    at(4, { queue: 'b' }),
    at(9, { queue: 'a', answers: 8 }),
  ];
  expect(latestHumanEvaluations(rows)).toEqual([rows[2], rows[3]]);
});

test('recordHumanEvaluation() appends a line unless it repeats the last one of its queue', async () => {
  const run = join(makeTempFolder(), 'run');
  writeFakeRun(run);
  const path = join(run, 'evaluations.jsonl');
  const before = readFileSync(path, 'utf8');
  expect(await recordHumanEvaluation(run, { step: 10, human })).toBe(true);
  expect(await recordHumanEvaluation(run, { step: 10, human: { ...human, time: 'later' } })).toBe(
    false,
  );
  expect(readFileSync(path, 'utf8')).toBe(`${before}${JSON.stringify({ step: 10, human })}\n`);
  const more = { step: 10, human: { ...human, answers: 8 } };
  expect(await recordHumanEvaluation(run, more)).toBe(true);
  expect(await readHumanEvaluations(run)).toEqual([more]);
});

test('readHumanEvaluations() ignores an incomplete last line', async () => {
  const run = join(makeTempFolder(), 'run');
  writeFakeRun(run);
  await recordHumanEvaluation(run, { step: 10, human });
  writeFileSync(join(run, 'evaluations.jsonl'), '{"step":11,"perf', { flag: 'a' });
  expect(await readHumanEvaluations(run)).toEqual([{ step: 10, human }]);
});

test('recordHumanEvaluation() leaves a deleted run deleted', async () => {
  const run = join(makeTempFolder(), 'gone');
  expect(await recordHumanEvaluation(run, { step: 1, human })).toBe(false);
  expect(existsSync(run)).toBe(false);
});

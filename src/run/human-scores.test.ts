import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { appendJsonLines } from '../fs/index.ts';
import { appendHumanScore, readHumanRequests, readHumanScores } from './human-scores.ts';

const time = '2026-01-01T00:00:00.000Z';
const request = (id: string) => ({ id, step: 1, prompt: 'p', response: `r ${id}`, time });

let run: string;
const at = (name: string) => join(run, 'human', name);

beforeEach(() => {
  run = makeTempFolder();
  mkdirSync(join(run, 'human'));
  appendJsonLines(at('requests.jsonl'), [request('a'), request('b')]);
});

describe('readHumanRequests()', () => {
  test('lists open, closed and reopened requests', async () => {
    expect(await readHumanRequests(makeTempFolder())).toEqual([]);
    const waiting = async () =>
      (await readHumanRequests(run)).map(({ id, isWaiting }) => [id, isWaiting]);
    expect(await readHumanRequests(run)).toEqual([
      { ...request('a'), isWaiting: true },
      { ...request('b'), isWaiting: true },
    ]);
    appendJsonLines(at('requests.jsonl'), [
      { closed: ['a', 'b'], time },
      request('b'),
      request('c'),
    ]);
    const expected = [
      ['a', false],
      ['b', true],
      ['c', true],
    ];
    expect(await waiting()).toEqual(expected);
    appendFileSync(at('requests.jsonl'), '{"closed":["c"');
    expect(await waiting()).toEqual(expected);
  });
});

describe('appendHumanScore()', () => {
  test('appends a line per score and per withdrawal', async () => {
    const note = 'a <b>\nnote';
    await appendHumanScore(run, { request: 'a', score: 0.5, labeller: 'Ada', note });
    await appendHumanScore(run, { request: 'a', score: null, labeller: 'Ada' });
    const stamp = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(await readHumanScores(run)).toEqual([
      { request: 'a', score: 0.5, labeller: 'Ada', note, time: stamp },
      { request: 'a', score: null, labeller: 'Ada', time: stamp },
    ]);
    expect(readFileSync(at('scores.jsonl'), 'utf8').match(/\n/g)).toHaveLength(2);
  });

  test('skips a line that a crash left incomplete', async () => {
    appendFileSync(at('scores.jsonl'), '{"request":"a","sc');
    await appendHumanScore(run, { request: 'b', score: 1, labeller: 'Ada' });
    expect(await readHumanScores(run)).toMatchObject([{ request: 'b', score: 1 }]);
  });

  test.each([
    [{ score: Number.NaN }, /^Cannot score a: score is invalid \(.*NaN\); pass/],
    [{ labeller: '' }, /^Cannot score a: labeller is invalid/],
    [
      { request: 'z' },
      'Cannot score z: the run must be waiting for it, got a request it never made',
    ],
    [
      { request: 'b' },
      'Cannot score b: the run must be waiting for it, got a request it has closed',
    ],
  ])('rejects %j and writes nothing', async (changes, fault) => {
    appendJsonLines(at('requests.jsonl'), [{ closed: ['b'], time }]);
    const score = { request: 'a', score: 1, labeller: 'Ada', ...changes };
    await expect(appendHumanScore(run, score)).rejects.toThrow(fault);
    expect(await readHumanScores(run)).toEqual([]);
  });
});

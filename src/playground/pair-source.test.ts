import { expect, test } from 'vitest';
import { PairSource, pairSamples } from './pair-source.ts';

const sample = (promptIdx: number, response: string) => ({
  ...{ promptIdx, response, sample: 0, prompt: `post ${promptIdx}`, finished: true },
  ...{ promptTokens: new Int32Array(1), tokens: new Int32Array(1) },
});

test('pairSamples() matches the worked example and leaves out single responses', () => {
  expect(pairSamples([4, 4, 7, 7, 9].map((promptIdx) => ({ promptIdx })))).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

test('a person scores the better response 1 and the other −1, and equal ones are not asked', async () => {
  const pairs = new PairSource();
  const samples = [sample(1, 'a'), sample(1, 'b'), sample(2, 'c'), sample(2, 'c')];
  const more = [sample(3, 'd'), sample(3, 'e'), sample(5, 'f'), sample(5, 'g')];
  const scores = pairs.score([...samples, ...more], { signal: new AbortController().signal });
  const asked: unknown[] = [];
  for (const choice of ['first', 'second', 'neither'] as const) {
    await expect.poll(() => pairs.question.value).not.toBe(undefined);
    asked.push(pairs.question.value);
    pairs.answer(choice);
    await expect.poll(() => pairs.question.value).not.toBe(asked.at(-1));
  }
  expect(await scores).toEqual([1, -1, 0, 0, -1, 1, 0, 0]);
  expect(asked[0]).toEqual({ prompt: 'post 1', first: 'a', second: 'b', number: 1, total: 3 });
  expect(pairs.question.value).toBe(undefined);
});

test('a run that ends drops its question', async () => {
  const pairs = new PairSource();
  const stop = new AbortController();
  const scores = pairs.score([sample(1, 'a'), sample(1, 'b')], { signal: stop.signal });
  await expect.poll(() => pairs.question.value).not.toBe(undefined);
  stop.abort(new Error('ended'));
  await expect(scores).rejects.toThrow('ended');
  expect(pairs.question.value).toBe(undefined);
});

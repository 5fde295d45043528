import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { tinyModel, tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { rewardSample } from '../../test/helpers/reward-samples.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { RewardModel } from '../models/reward-model.ts';
import { randomHead } from '../models/scalar-model.ts';
import { type LoadRewardFileOptions, loadRewardFile } from './load-reward-file.ts';

const base = tinyModel();
const head = randomHead(base.architecture.config.hidden_size);
const tokenizer = tinyTokenizer();
const { signal } = new AbortController();
const sample = rewardSample({ response: 'c d' });

afterAll(() => base.dispose());

/** Writes these files into a new folder; returns the path of the first. */
function files(contents: Readonly<Record<string, string>>): string {
  const folder = makeTempFolder();
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, name), text);
  return join(folder, Object.keys(contents)[0]!);
}

/** Name, weight and score of each source of a file. */
async function scoresOf(file: string, options: LoadRewardFileOptions = {}) {
  const sources = await loadRewardFile(file, options);
  return Promise.all(
    sources.map(async ({ source, weight }) => {
      const [score] = await source.score([sample], { signal });
      return [source.name, weight, score];
    }),
  );
}

describe('loadRewardFile()', () => {
  test.each([
    ['my-reward.ts', 'export default (s: { response: string }): number => s.response.length'],
    ['my-reward.mjs', 'export default async ({ response }) => response.length'],
    ['my-reward.js', 'export default ({ response }) => response.length'],
    ['my-reward.cjs', 'module.exports = ({ response }) => response.length'],
  ])('names an unnamed function after its file: %s', async (name, text) => {
    expect(await scoresOf(files({ [name]: text }))).toEqual([['my-reward', 1, 3]]);
  });

  test('accepts a named function from a file that imports another', async () => {
    const file = files({
      'reward.ts': `import { count, type Sample } from './count.ts';
        export default function words(sample: Sample) { return count(sample.response); }`,
      'count.ts': `export interface Sample { response: string }
        export const count = (text: string): number => text.split(' ').length;`,
    });
    expect(await scoresOf(file)).toEqual([['words', 1, 2]]);
    expect(readdirSync(join(file, '..')).sort()).toEqual(['count.ts', 'reward.ts']);
  });

  test('accepts named functions with weights, and top-level await', async () => {
    const file = files({
      'reward.ts': `const length = await Promise.resolve((s: { response: string }) => s.response.length);
        export default { length, negative: { source: () => -1, weight: 0.5 } };`,
    });
    expect(await scoresOf(file)).toEqual([
      ['length', 1, 3],
      ['negative', 0.5, -1],
    ]);
  });

  test('accepts a RewardSource', async () => {
    const text = `export default { name: 'mine', async score(all) { return all.map(() => 7); } }`;
    expect(await scoresOf(files({ 'reward.js': text }))).toEqual([['mine', 1, 7]]);
  });

  test('creates a reward model from a class that extends RewardModel', async () => {
    const file = files({
      'reward.ts': `import { RewardModel } from 'proximal';
        export default class Shifted extends RewardModel {
          async forward(ids: ArrayLike<number>[]) {
            return (await super.forward(ids)).map((score) => score + 100);
          }
        }`,
    });
    const options = { base, head, tokenizer };
    const modules = { proximal: new URL('../index.ts', import.meta.url).href };
    const [plain] = await new RewardModel(options).forward([[2, 3, 4, 5]]);
    const [[name, weight, score]] = (await scoresOf(file, {
      rewardModel: () => options,
      modules,
    })) as [[string, number, number]];
    expect([name, weight]).toEqual(['Shifted', 1]);
    expect(score).toBeCloseTo(plain! + 100, 4);
    await expect(loadRewardFile(file, { modules })).rejects.toThrow(
      `Cannot use ${file}: its class Shifted extends RewardModel, so it needs a reward model, got none`,
    );
  });

  test.each([
    ['export default 5', 'its default export must be a reward function, '],
    ['export default null', 'got null'],
    ['export default class Judge {}', 'got the class Judge'],
    ['export default {}', 'got an object with nothing'],
    ['export default { a: 1 }', '{ source, weight } as "a", got 1'],
    [
      'export const a = () => 1; export const b = 2',
      'it must export its rewards as default, got a, b; use "export default"',
    ],
    ['export {}', 'as default, got nothing;'],
  ])('rejects %s', async (text, problem) => {
    for (const name of ['reward.ts', 'reward.mjs']) {
      const file = files({ [name]: text });
      const error = await loadRewardFile(file).catch((thrown: Error) => thrown);
      expect(error).toMatchObject({ message: expect.stringContaining(`Cannot use ${file}: it`) });
      expect(error).toMatchObject({ message: expect.stringContaining(problem) });
    }
  });

  test.each([
    ['export default (s: string) => { return ((1; }', 'Unexpected token, expected ","'],
    ['throw new TypeError("no\\nkey")', 'no key'],
    ['import x from "no-such-package"; export default x', "Cannot find module 'no-such-package'"],
  ])('names the file and the problem if it cannot be loaded: %s', async (text, problem) => {
    const file = files({ 'reward.ts': text });
    const error = await loadRewardFile(file).catch((thrown: Error) => thrown);
    const { message } = error as Error;
    expect(message.startsWith(`Cannot load ${file}: `)).toBe(true);
    expect(message).toContain(problem);
    expect(message).not.toContain('\n');
  });

  test('rejects a missing file', async () => {
    await expect(loadRewardFile('no-such/reward.ts')).rejects.toThrow(
      'Cannot load no-such/reward.ts: it must be a file with rewards, got no such file',
    );
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configFields } from '../src/config/config-fields.ts';
import * as proximal from '../src/index.ts';
import {
  createNamedReward,
  namedRewards,
  parseNamedReward,
} from '../src/reward-kl/library/named-rewards.ts';
import { readDocument, SnippetFolder } from './helpers/doc-snippets.ts';
import { samplesOf } from './helpers/reward-samples.ts';

const { text, blocks } = readDocument('docs/rewards.md');
const folder = new SnippetFolder();

/** Runs the one snippet that contains a text and returns its output. */
function runSnippetWith(part: string): string {
  const snippets = blocks('ts').filter((code) => code.includes(part));
  expect(snippets).toHaveLength(1);
  const { status, stdout, stderr } = folder.runSnippet(snippets[0]!);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

describe('docs/rewards.md', { timeout: 120_000 }, () => {
  beforeAll(() => folder.fillCache());
  afterAll(() => folder.remove());

  test('combined rewards have metrics by name, within their ranges', () => {
    const lines = runSnippetWith('rewards.combine').trim().split('\n');
    const means = new Map(lines.map((line) => line.split(' ') as [string, string]));
    expect([...means.keys()]).toEqual(['short', 'polite', 'repetitionPenalty']);
    const [short, polite, repetition] = [...means.values()].map(Number);
    expect(Math.abs(short! - 0.5)).toBeLessThanOrEqual(0.5);
    expect(Math.abs(polite!)).toBeLessThanOrEqual(1);
    expect(Math.abs(repetition! + 0.5)).toBeLessThanOrEqual(0.5);
  });

  test('a reward reads correct answers from the dataset, for four responses', () => {
    const correct = 4 * Number(runSnippetWith('numericAnswer'));
    expect([0, 1, 2, 3, 4]).toContain(correct);
  });

  test('custom rewards score whole responses and tokens', () => {
    const [oneSentence, repeats] = runSnippetWith('function oneSentence').split(' ').map(Number);
    expect(Math.abs(oneSentence! - 0.5)).toBeLessThanOrEqual(0.5);
    // At most 19 of 20 tokens can repeat.
    expect(Math.abs(repeats! + 0.95)).toBeLessThanOrEqual(0.95 + 1e-6);
  });

  test('a reward file has named sources with weights', async () => {
    const [code] = blocks('js');
    const file = join(folder.path, 'reward.js');
    writeFileSync(file, code!);
    const sources = await proximal.loadRewardFile(file, { modules: { proximal } });
    expect(sources.map(({ source, weight }) => [source.name, weight])).toEqual([
      ['thoughtful', 2],
      ['calm', 1],
    ]);
    const { signal } = new AbortController();
    const samples = samplesOf('<think>a</think><answer>b</answer>', 'No!');
    const scores = await Promise.all(
      sources.map(({ source }) => source.score(samples, { signal })),
    );
    expect(scores).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });

  test('every named reward can be created', () => {
    const lines = blocks('text').join('').trim().split('\n');
    const specs = lines.map((line) => parseNamedReward(line));
    for (const { name, options } of specs) expect(createNamedReward(name, options).name).toBe(name);
    expect(specs.map(({ weight }) => weight)).toEqual([
      1, 0.5, 1, 0.5, 1, 1, 1, 1, 1, 2, 1, -1, 1, 1,
    ]);
  });

  test('the tables list every reward and every option with its default', () => {
    const rows = [...text.matchAll(/^\| `(\w+)` \| `(\w+)` \| (.*?) ?\|/gm)];
    const documented = rows.map(([, name, option, standard]) => [name, option, standard].join(' '));
    const known = Object.entries(namedRewards).flatMap(([name, { options }]) =>
      configFields(options).map(({ key, default: standard }) =>
        [name, key, Array.isArray(standard) ? 'none' : (standard ?? '')].join(' '),
      ),
    );
    expect(documented).toEqual(known);
    const scored = [...text.matchAll(/^\| `(\w+)` \| [^`|]/gm)].map(([, name]) => name);
    expect(scored).toEqual(Object.keys(namedRewards));
  });
});

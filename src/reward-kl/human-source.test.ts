import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rewardSample } from '../../test/helpers/reward-samples.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { HumanSource } from './human-source.ts';

/** A file with these lines. */
function scoreFile(...lines: readonly (string | object)[]): string {
  const file = join(makeTempFolder(), 'scores.jsonl');
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  writeFileSync(file, texts.join('\n'));
  return file;
}

const line = (prompt: string, response: string, score: unknown) => ({ prompt, response, score });
const sample = (prompt: string, response: string) => rewardSample({ prompt, response });

describe('HumanSource', () => {
  test('finds scores by the exact prompt and response', async () => {
    const source = await HumanSource.load(
      scoreFile(line('p', 'r', 1), line('p', 'R', 2), line('pr', '', 3)),
    );
    const samples = [sample('pr', ''), sample('p', 'R'), sample('p', 'r')];
    expect(await source.score(samples)).toEqual([3, 2, 1]);
    expect(source.name).toBe('human');
  });

  test('averages several scores of the same text', async () => {
    const file = scoreFile(line('p', 'r', 1), line('p', 'r', 4), line('p', 'r', 4));
    const source = await HumanSource.load(file);
    expect(await source.score([sample('p', 'r')])).toEqual([3]);
  });

  test('accepts empty lines, a byte order mark and Windows line endings', async () => {
    const text = JSON.stringify(line('p', 'r', 5));
    const source = await HumanSource.load(scoreFile(`\uFEFF${text}\r`, '', '  \r', ''));
    expect(await source.score([sample('p', 'r')])).toEqual([5]);
  });

  test('an unscored response is an error or gets the fallback score', async () => {
    const file = scoreFile(line('p', 'r', 1));
    const samples = [sample('p', 'r'), sample('p', `${'x'.repeat(50)}`)];
    await expect((await HumanSource.load(file)).score(samples)).rejects.toThrow(
      `Cannot score sample 1 with "human": ${file} must contain its score, got none for the response ` +
        `"${'x'.repeat(40)}…" to "p"; add a line, or set a fallback score`,
    );
    const withFallback = await HumanSource.load(file, { fallback: -1, name: 'raters' });
    expect(await withFallback.score(samples)).toEqual([1, -1]);
    expect(withFallback.name).toBe('raters');
  });

  test.each([
    ['{"prompt": "p"', 'it must be JSON ('],
    ['[1]', 'it must be an object, got [1]'],
    ['null', 'it must be an object, got null'],
    ['{"response": "r", "score": 1}', '"prompt" must be a string, got nothing'],
    ['{"prompt": "p", "response": 7, "score": 1}', '"response" must be a string, got 7'],
    ['{"prompt": "p", "response": "r", "score": "5"}', '"score" must be a number, got "5"'],
    ['{"prompt": "p", "response": "r"}', '"score" must be a number, got nothing'],
    ['{"prompt": "p", "response": "r", "score": 1e999}', '"score" must be a number, got null'],
  ])('rejects the line %s with its number', async (bad, problem) => {
    const file = scoreFile(line('p', 'r', 1), '', bad, 'never read');
    await expect(HumanSource.load(file)).rejects.toThrow(`Cannot read ${file} line 3: ${problem}`);
  });

  test('rejects a missing file and a folder', async () => {
    const folder = makeTempFolder();
    await expect(HumanSource.load(join(folder, 'no.jsonl'))).rejects.toThrow(
      `Cannot read ${join(folder, 'no.jsonl')}: it must be a JSON Lines file, got no such file`,
    );
    await expect(HumanSource.load(folder)).rejects.toThrow(
      `Cannot read ${folder}: it must be a regular file, got a folder; move it away`,
    );
  });
});

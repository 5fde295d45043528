import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../../test/helpers/tiny-tokenizer.ts';
import { loadTokenizer } from './load-tokenizer.ts';

test('encode() stops a pattern of tokenizer.json that would take years', async () => {
  const folder = writeTinyTokenizer(makeTempFolder());
  const file = join(folder, 'tokenizer.json');
  const json = JSON.parse(readFileSync(file, 'utf8'));
  const pattern = { Regex: '(x+x+)+y' };
  json.pre_tokenizer = { type: 'Split', pattern, behavior: 'Isolated', invert: false };
  writeFileSync(file, JSON.stringify(json));
  const tokenizer = await loadTokenizer(folder);
  expect(() => tokenizer.encode('x'.repeat(60))).toThrow(
    new Error(
      'Cannot encode text: tokenizer.json must split 60 characters within 11 seconds, took longer; use patterns without nested repetition',
    ),
  );
  expect([...tokenizer.encode('cat')]).toEqual([5]);
});

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../test/helpers/tiny-tokenizer.ts';

const linesPerChunk = 1024;

/** Writes 100 chunks of 1024 lines of 1 KiB; the first line of a chunk is good, the second is not
 *  UTF-8, and the others have equal sides. */
function writeLargeFile(path: string): void {
  const pad = (line: string) => Buffer.from(`${line.padEnd(1023)}\n`);
  const good = pad(JSON.stringify({ prompt: 'the cat', chosen: ' runs', rejected: ' sees' }));
  const spoiled = Buffer.from(good);
  spoiled[1000] = 0xff;
  const text = 'the dog '.repeat(55);
  const equal = pad(JSON.stringify({ prompt: 'the cat', chosen: text, rejected: text }));
  const rest = Array.from({ length: linesPerChunk - 2 }, () => equal);
  const chunk = Buffer.concat([good, spoiled, ...rest]);
  const file = openSync(path, 'w');
  for (let i = 0; i < 100; i++) writeSync(file, chunk);
  closeSync(file);
}

/** Loads a file in a separate process and returns the peak growth of its memory, in MiB. */
function loadInChild(file: string, tokenizer: string) {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = join(makeTempFolder(), 'child.mts');
  writeFileSync(
    script,
    `import { loadTokenizer } from ${url('../base-setup/tokenizer/index.ts')};
    import { loadPreferences } from ${url('./index.ts')};
    const tokenizer = await loadTokenizer(${JSON.stringify(tokenizer)});
    const before = process.resourceUsage().maxRSS;
    const { report } = await loadPreferences(${JSON.stringify(file)}, tokenizer);
    const growth = (process.resourceUsage().maxRSS - before) / 1024;
    console.log(JSON.stringify({ report, growth }));`,
  );
  const args = ['--import', 'tsx', script];
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test('100 MiB of JSON Lines are read in less memory than their size', () => {
  const folder = makeTempFolder();
  const file = join(folder, 'large.jsonl');
  writeLargeFile(file);
  const { report, growth } = loadInChild(file, writeTinyTokenizer(join(folder, 'tokenizer')));
  const { examples, ...counts } = report;
  expect(counts).toMatchObject({
    read: 100 * linesPerChunk,
    kept: 100,
    reasons: { 'invalid-utf8': 100, 'equal-sides': 100 * (linesPerChunk - 2) },
  });
  expect(examples).toHaveLength(6);
  expect(examples[0].message).toBe(
    `Cannot read ${file} line 2: it must be UTF-8, got other bytes; convert it first (0xff is byte 1001 of the line)`,
  );
  // Four times the file takes 60; its bytes and texts together would take about 300.
  expect(growth).toBeLessThan(90);
});

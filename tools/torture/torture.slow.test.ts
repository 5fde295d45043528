import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { torture } from './torture.ts';

const listFolders = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('proximal-torture-'));

test('two cases of every attack break nothing and leave nothing behind', {
  timeout: 600_000,
}, async () => {
  const before = listFolders();
  const { failures, ...counts } = await torture({ cases: 2, seed: 'test' });
  expect(failures).toEqual([]);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
  expect(counts.mutations).toBeGreaterThan(500);
  expect(listFolders()).toEqual(before);
});

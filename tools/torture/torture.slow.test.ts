import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { torture } from './torture.ts';

const listFolders = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('proximal-torture-'));

test('one case of every attack breaks nothing and leaves nothing behind', {
  timeout: 600_000,
}, async () => {
  const before = listFolders();
  const { failures, readers, ...counts } = await torture({ cases: 1, seed: 'test', atOnce: 1 });
  expect(failures).toEqual([]);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
  expect(Object.values(readers)).toEqual([counts.mutations]);
  expect(listFolders()).toEqual(before);
});

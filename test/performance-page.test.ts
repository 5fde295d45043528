import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fillTables, performancePage, readResults } from '../tools/performance/fill-tables.ts';

test('the tables of docs/performance.md match the saved results', () => {
  const page = readFileSync(performancePage, 'utf8');
  expect(fillTables(page, readResults())).toBe(page);
});

test('a page without markers is an error', () => {
  expect(() => fillTables('', {})).toThrow(
    'Cannot fill the page: it must contain <!-- ppo-step --> and <!-- /ppo-step -->, got neither',
  );
});

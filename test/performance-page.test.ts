import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fillTables } from '../tools/performance/fill-tables.ts';
import { performancePage, readResults } from '../tools/performance/read-results.ts';

test('the tables of docs/performance.md are those of the kept results', () => {
  const page = readFileSync(performancePage, 'utf8');
  expect(fillTables(page, readResults())).toBe(page);
});

test('a page without the marks is refused', () => {
  expect(() => fillTables('', {})).toThrow(
    'Cannot fill the page: it must hold <!-- ppo-step --> and <!-- /ppo-step -->, got neither',
  );
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatConfigPage } from '../tools/config-page/format-config-page.ts';

test('docs/config.md is up to date with the schemas; npm run config-page updates it', () => {
  const page = readFileSync(new URL('../docs/config.md', import.meta.url), 'utf8');
  expect(page).toBe(formatConfigPage());
});

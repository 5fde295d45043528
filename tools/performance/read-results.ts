import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Results } from './fill-tables.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

export const performancePage = `${docs}performance.md`;

/** The JSON that benchmarks printed, as it was kept beside the page. */
export function readResults(): Results {
  const files = readdirSync(`${docs}performance`);
  return Object.fromEntries(
    files.map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(`${docs}performance/${file}`, 'utf8')),
    ]),
  );
}

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fillTables } from './fill-tables.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const page = `${docs}performance.md`;
const results = (name: string) =>
  JSON.parse(readFileSync(`${docs}performance/${name}.json`, 'utf8'));

writeFileSync(page, fillTables(readFileSync(page, 'utf8'), results));

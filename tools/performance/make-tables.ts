import { readFileSync, writeFileSync } from 'node:fs';
import { fillTables } from './fill-tables.ts';
import { performancePage, readResults } from './read-results.ts';

writeFileSync(performancePage, fillTables(readFileSync(performancePage, 'utf8'), readResults()));

import { readFileSync, writeFileSync } from 'node:fs';
import { fillTables, performancePage, readResults } from './fill-tables.ts';

writeFileSync(performancePage, fillTables(readFileSync(performancePage, 'utf8'), readResults()));

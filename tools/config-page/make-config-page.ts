/** Writes docs/config.md: npm run config-page. */
import { writeFileSync } from 'node:fs';
import { formatConfigPage } from './format-config-page.ts';

writeFileSync(new URL('../../docs/config.md', import.meta.url), formatConfigPage());

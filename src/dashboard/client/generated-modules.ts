import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { resolvePPOConfig } from '../../config/ppo-config.ts';
import { parseMetricNotes } from './charts/metric-notes.ts';

const metricsDoc = fileURLToPath(new URL('../../../docs/metrics.md', import.meta.url));

/** Modules whose contents are computed when the page is built. The page gets the defaults of PPO's
 *  config from its schema this way, without the schema library. */
const generatedModules: Readonly<Record<string, () => string>> = {
  'virtual:metric-notes': () => {
    const notes = parseMetricNotes(readFileSync(metricsDoc, 'utf8'));
    return `export const metricNotes = ${JSON.stringify(notes)};`;
  },
  'virtual:ppo-defaults': () => `export const ppoDefaults = ${JSON.stringify(resolvePPOConfig())};`,
};

/** Resolves the modules that are generated when a page is built. */
export function generateModules(): Plugin {
  return {
    name: 'generated-modules',
    resolveId: (id) => (id in generatedModules ? `\0${id}` : undefined),
    load(id) {
      const generate = generatedModules[id.replace(/^\0/, '')];
      if (generate === undefined) return undefined;
      this.addWatchFile(metricsDoc);
      return generate();
    },
  };
}

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { parseMetricNotes } from './charts/metric-notes.ts';

const notesId = 'virtual:metric-notes';

/** Gives the page the tables of docs/metrics.md, so that they are written down once. */
function metricNotes(): Plugin {
  const file = fileURLToPath(new URL('../../../docs/metrics.md', import.meta.url));
  return {
    name: 'metric-notes',
    resolveId: (id) => (id === notesId ? `\0${notesId}` : undefined),
    load(id) {
      if (id !== `\0${notesId}`) return undefined;
      this.addWatchFile(file);
      const notes = parseMetricNotes(readFileSync(file, 'utf8'));
      return `export const metricNotes = ${JSON.stringify(notes)};`;
    },
  };
}

/** One script without imports, so that the server's page and a report's are the same: the one
 *  loads `page.js`, the other carries it. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [metricNotes()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        format: 'iife',
        entryFileNames: 'page.js',
        assetFileNames: (asset) =>
          asset.names[0]?.endsWith('.css') ? 'page.css' : '[name][extname]',
      },
    },
  },
});

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { generateModules } from './generated-modules.ts';

/** Builds one script without imports, which the server's page loads and a report embeds. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [generateModules()],
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

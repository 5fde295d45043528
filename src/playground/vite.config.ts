import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { generateModules } from '../dashboard/client/generated-modules.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const embedded = fileURLToPath(new URL('../../embedded', import.meta.url));
const require = createRequire(import.meta.url);
const ortFolder = dirname(require.resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm'));

/** Files that the page fetches, by their addresses. */
const servedFiles: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'config.json',
      'generation_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'model.safetensors',
    ].map((name) => [`model/${name}`, join(embedded, name)]),
  ),
  ...Object.fromEntries(
    ['ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'].map((name) => [
      `ort/${name}`,
      join(ortFolder, name),
    ]),
  ),
};

/** Puts the embedded model and ONNX Runtime next to the page. */
function copyFiles(): Plugin {
  return {
    name: 'copy-files',
    generateBundle() {
      for (const [fileName, file] of Object.entries(servedFiles)) {
        this.emitFile({ type: 'asset', fileName, source: readFileSync(file) });
      }
    },
  };
}

/** With these a page is cross-origin isolated, and WebAssembly may use threads. */
const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Builds static files that any server can serve, under any path. */
export default defineConfig({
  root: here,
  base: './',
  plugins: [generateModules(), copyFiles()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: {
    // The build of ONNX Runtime without a copy of its loader, which is served as a file.
    conditions: ['onnxruntime-web-use-extern-wasm', 'module', 'browser', 'production'],
    alias: [{ find: /^onnxruntime-web$/, replacement: 'onnxruntime-web/wasm' }],
  },
  worker: { format: 'es' },
  build: {
    outDir: fileURLToPath(new URL('../../dist/playground', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
  },
  preview: { headers: isolation, port: 4173 },
});

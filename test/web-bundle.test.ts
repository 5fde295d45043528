import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { expect, test } from 'vitest';

const path = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));

/** Bundles a file for browsers. Returns the modules of Node that it imports, with their importers. */
async function findNodeImports(entry: string): Promise<string[]> {
  const found: string[] = [];
  const watch: Plugin = {
    name: 'watch-imports',
    enforce: 'pre',
    resolveId(source, importer) {
      const isNode = /^node:|^(fs|path|os|crypto|util|url|buffer|worker_threads)(\/|$)/.test(
        source,
      );
      if (isNode || source.startsWith('onnxruntime-node')) found.push(`${importer} -> ${source}`);
      return undefined;
    },
  };
  await build({
    ...{ configFile: false, logLevel: 'silent', root: path('.'), plugins: [watch] },
    build: { write: false, rolldownOptions: { input: entry } },
  });
  return found.map((line) => line.replace(path('.'), ''));
}

test('what proximal/web reaches needs no module of Node', async () => {
  expect(await findNodeImports(path('src/web/index.ts'))).toEqual([]);
});

test('what its worker reaches, up to the PPO step, needs no module of Node', async () => {
  expect(await findNodeImports(path('src/web/worker.ts'))).toEqual([]);
});

test('the search finds the modules of an entry for Node', async () => {
  const found = await findNodeImports(path('src/base-setup/safetensors/open-weights.ts'));
  expect(found).toContain('src/base-setup/safetensors/open-weights.ts -> node:fs/promises');
});

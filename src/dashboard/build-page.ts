import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** The sources of the web page; only a checkout has them. */
const client = join(here, 'client');

/** Folders and files that the page is built from besides its own folder: the core's formulas and
 *  config schema among them. */
const otherSources = [
  join(here, 'api.ts'),
  join(here, 'evaluation-numbers.ts'),
  join(here, 'sample-query.ts'),
  ...['columns', 'config', 'token-attribution', 'reward-kl', 'advantage', 'training', 'loop'].map(
    (folder) => join(here, '..', folder),
  ),
  join(here, '../run/human-evaluation.ts'),
  join(here, '../../docs/metrics.md'),
  join(here, '../../package-lock.json'),
];

/** The folder of the built web page: `index.html`, `page.js` and `page.css`. The package contains
 *  it; a checkout builds it once per state of its sources. */
export async function pageFolder(): Promise<string> {
  const shipped = join(here, 'page');
  if (existsSync(join(shipped, 'index.html'))) return shipped;
  if (!existsSync(join(client, 'index.html'))) {
    throw new Error(
      `Cannot show the dashboard: its page must be in ${shipped}, but it is missing; reinstall proximal`,
    );
  }
  const cache = join(here, '../../node_modules/.cache/proximal-page');
  const folder = join(cache, await hashSources());
  if (!existsSync(folder)) await buildInto(folder, cache);
  return folder;
}

/** Builds the web page into a folder, which is emptied first. */
export async function buildPage(outDir: string): Promise<void> {
  const { build } = await import('vite');
  await build({
    configFile: join(client, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: resolve(outDir), emptyOutDir: true },
  });
}

/** Builds into a temporary folder and renames it, so that the final folder is always complete. */
async function buildInto(folder: string, cache: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'draft-'));
  try {
    await buildPage(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have built it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}

/** A name for the current state of the sources. */
async function hashSources(): Promise<string> {
  const files = (await Promise.all([client, ...otherSources].map(listFiles))).flat();
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n`).update(await readFile(file));
  return hash.digest('hex').slice(0, 20);
}

/** The files in a folder except tests, or the file itself. */
async function listFiles(path: string): Promise<string[]> {
  if (/\.\w+$/.test(path)) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

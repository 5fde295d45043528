import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** The web page's sources; they are there only in a checkout. */
const client = join(here, 'client');

/** What the page is built from, beside its own folder. */
const otherSources = [
  join(here, 'api.ts'),
  join(here, 'sample-query.ts'),
  join(here, '../../docs/metrics.md'),
  join(here, '../../package-lock.json'),
];

/** The folder of the built web page: `index.html`, `page.js` and `page.css`. It comes with the
 *  package; a checkout builds it once for each state of its sources. */
export async function pageFolder(): Promise<string> {
  const shipped = join(here, 'page');
  if (existsSync(join(shipped, 'index.html'))) return shipped;
  if (!existsSync(join(client, 'index.html'))) {
    throw new Error(
      `Cannot show the dashboard: its page must be in ${shipped}, and it is not there; install proximal again`,
    );
  }
  const cache = join(here, '../../node_modules/.cache/proximal-page');
  const folder = join(cache, await hashSources());
  if (!existsSync(folder)) await buildInto(folder, cache);
  return folder;
}

/** Builds the web page into a folder, which is emptied before. */
export async function buildPage(outDir: string): Promise<void> {
  const { build } = await import('vite');
  await build({
    configFile: join(client, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: resolve(outDir), emptyOutDir: true },
  });
}

/** Builds under another name first: whoever finds the folder finds it whole. */
async function buildInto(folder: string, cache: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'draft-'));
  try {
    await buildPage(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  }
}

/** A name for the present state of the sources. */
async function hashSources(): Promise<string> {
  const entries = await readdir(client, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256');
  for (const file of [...files, ...otherSources]) {
    hash.update(`${file}\n`).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 20);
}

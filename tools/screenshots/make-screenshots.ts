/** Takes the screenshots in docs/images from a real run, such as that of `npm start`:
 *  npm run screenshots -- runs/demo-20260131-235959 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import type { RunSummary, SamplePage } from '../../src/dashboard/api.ts';
import { LabelStore } from '../../src/dashboard/labels/label-store.ts';
import { startDashboard } from '../../src/dashboard/server/start-dashboard.ts';
import { findBrowser } from '../../test/helpers/find-browser.ts';

const [folder] = process.argv.slice(2);
const executablePath = findBrowser();
if (folder === undefined)
  throw new Error('Cannot take screenshots: pass the folder of a run, such as that of npm start');
if (executablePath === undefined)
  throw new Error('Cannot take screenshots: a browser is required; install chromium');

const images = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const labels = mkdtempSync(join(tmpdir(), 'proximal-labels-'));
const onError = (error: unknown) => console.error(error);
const dashboard = await startDashboard({ folders: [folder], port: 0, labels, onError });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const viewport = { width: 1280, height: 720 };
  const page = await browser.newPage({ viewport, colorScheme: 'light' });
  const dark = await browser.newPage({ viewport, colorScheme: 'dark' });
  const run = await findRun();
  await shoot(page, { route: `#/runs/${run.id}`, name: 'overview' });
  await shoot(page, { route: `#/runs/${run.id}/samples`, name: 'samples' });
  const { rows } = await get<SamplePage>(`api/runs/${run.id}/samples?limit=1&sort=step&order=desc`);
  await shoot(page, { route: `#/runs/${run.id}/samples/${rows[0]!.index}`, name: 'tokens' });
  await shoot(dark, { route: `#/runs/${run.id}/samples/${rows[0]!.index}`, name: 'tokens-dark' });
  await label(page);
} finally {
  await browser.close();
  await dashboard.close();
  rmSync(labels, { recursive: true });
}

async function get<T>(path: string): Promise<T> {
  return (await (await fetch(new URL(path, dashboard.url))).json()) as T;
}

async function findRun(): Promise<RunSummary> {
  const runs = await get<RunSummary[]>('api/runs');
  const run = runs.find(({ kind, counts }) => kind === 'ppo' && counts.samples > 0);
  if (run === undefined)
    throw new Error(`Cannot take screenshots: ${folder} must contain a PPO run with samples`);
  return run;
}

async function shoot(page: Page, { route, name }: { route: string; name: string }): Promise<void> {
  await page.goto(dashboard.url + route);
  await page.waitForLoadState('networkidle').catch(() => undefined);
  await page.waitForTimeout(1000);
  await save(page, name);
}

async function save(page: Page, name: string): Promise<void> {
  const path = join(images, `${name}.png`);
  await page.screenshot({ path });
  console.log(path);
}

/** A pair of summaries, ready to be labelled. */
async function label(page: Page): Promise<void> {
  const file = fileURLToPath(new URL('../../embedded/preferences.jsonl', import.meta.url));
  const source = { from: 'file', file } as const;
  const store = new LabelStore({ folder: labels });
  await store.create({ name: 'Which summary?', kind: 'pair', source, limit: 20 });
  await page.goto(`${dashboard.url}#/label`);
  await page.getByLabel('Your name').fill('Ada');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Label Which summary?' }).click();
  await page.waitForTimeout(800);
  await save(page, 'label');
}

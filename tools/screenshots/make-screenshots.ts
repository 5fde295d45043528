/** Takes the pictures in docs/images from a run of `npm start`, all or those that are named:
 *  npm run screenshots -- runs/demo-20260131-235959
 *  npm run screenshots -- runs/demo-20260131-235959 before-after */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import type { RunSummary, SamplePage } from '../../src/dashboard/api.ts';
import { LabelStore } from '../../src/dashboard/labels/label-store.ts';
import { startDashboard } from '../../src/dashboard/server/start-dashboard.ts';
import { findBrowser } from '../../test/helpers/find-browser.ts';
import { cardWidth, renderCard } from './before-after-card.ts';
import { measureDemo } from './measure-demo.ts';

const [folder, ...names] = process.argv.slice(2);
const executablePath = findBrowser();
if (folder === undefined)
  throw new Error('Cannot take screenshots: pass the folder of a run, such as that of npm start');
if (executablePath === undefined)
  throw new Error('Cannot take screenshots: a browser is required; install chromium');

const images = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const labels = mkdtempSync(join(tmpdir(), 'proximal-labels-'));
const onError = (error: unknown) => console.error(error);
const dashboard = await startDashboard({ folders: [folder], port: 0, labels, onError });
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-background-networking'],
});
try {
  const viewport = { width: 1280, height: 720 };
  const page = await browser.newPage({ viewport, colorScheme: 'light' });
  const dark = await browser.newPage({ viewport, colorScheme: 'dark' });
  const run = await findRun();
  if (isWanted('before-after')) await drawBeforeAfter();
  await shoot(page, { route: `#/runs/${run.id}`, name: 'overview' });
  await shoot(page, { route: `#/runs/${run.id}/samples`, name: 'samples' });
  const { rows } = await get<SamplePage>(`api/runs/${run.id}/samples?limit=1&sort=step&order=desc`);
  await shoot(page, { route: `#/runs/${run.id}/samples/${rows[0]!.index}`, name: 'tokens' });
  await shoot(dark, { route: `#/runs/${run.id}/samples/${rows[0]!.index}`, name: 'tokens-dark' });
  if (isWanted('label')) await label(page);
  if (isWanted('playground')) await playground(page);
} finally {
  await browser.close();
  await dashboard.close();
  rmSync(labels, { recursive: true });
}

function isWanted(name: string): boolean {
  return names.length === 0 || names.includes(name);
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
  if (!isWanted(name)) return;
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

/** A post, summarised before and after PPO, and the curve of the reward, for the README. */
async function drawBeforeAfter(): Promise<void> {
  const viewport = { width: cardWidth, height: 600 };
  const page = await browser.newPage({ viewport, deviceScaleFactor: 2 });
  await page.setContent(renderCard(await measureDemo(folder!)));
  const path = join(images, 'before-after.png');
  await page.locator('main').screenshot({ path, omitBackground: true });
  console.log(path);
}

/** The playground after some steps; `npm run playground` must be running. */
async function playground(page: Page): Promise<void> {
  await page.goto('http://localhost:4173/');
  await page.getByRole('button', { name: 'Start', exact: true, disabled: false }).click();
  await page.getByText(/Running, 1[2-9] steps done/).waitFor({ timeout: 600_000 });
  await page.waitForTimeout(800);
  await save(page, 'playground');
}

/** A pair of summaries, ready to be labelled. */
async function label(page: Page): Promise<void> {
  const file = fileURLToPath(new URL('../../embedded/preferences.jsonl', import.meta.url));
  const source = { from: 'file', file } as const;
  const store = new LabelStore({ folder: labels });
  const question = 'Which summary is better?';
  await store.create({ name: 'Summaries', kind: 'pair', question, source, limit: 20 });
  await page.goto(`${dashboard.url}#/label`);
  await page.getByLabel('Your name').fill('Ada');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Label Summaries' }).click();
  await page.waitForTimeout(800);
  await save(page, 'label');
}

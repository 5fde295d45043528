import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { WorkersState } from '../../src/dashboard/api.ts';
import { describeInBrowser, expectAccessible, untilCharts } from '../helpers/browser.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { type FakeRunOptions, hostileTexts, writeFakeRun } from '../helpers/fake-run.ts';
import { fakeWorker, fakeWorkers } from '../helpers/fake-workers.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const patience = { timeout: 20_000, interval: 50 };
const sizes = { wide: { width: 1280, height: 720 }, phone: { width: 390, height: 844 } };

async function startRun(options: FakeRunOptions) {
  const folder = makeTempFolder();
  const run = join(folder, 'runs', 'a');
  writeFakeRun(run, options);
  const { url } = await startTestDashboard({
    ...{ folders: [join(folder, 'runs')], page: undefined, labels: join(folder, 'labels') },
  });
  return { url, run };
}

/** Replaces the state as a trainer does. */
function writeWorkers(run: string, state: WorkersState): void {
  writeFileSync(join(run, 'workers.json.tmp'), JSON.stringify(state));
  renameSync(join(run, 'workers.json.tmp'), join(run, 'workers.json'));
}

const panelOf = (page: Page) => page.getByRole('region', { name: 'Workers' });

/** The facts in an element by their names. */
async function factsOf(page: Page, selector: string): Promise<Record<string, string>> {
  const texts = await panelOf(page)
    .locator(selector)
    .evaluateAll((all) =>
      all.map((fact) => ['dt', 'dd'].map((part) => fact.querySelector(part)!.textContent)),
    );
  return Object.fromEntries(texts);
}

const reason = 'the base must have the fingerprint 0123…, got 4567…; pass --model';
const refused = fakeWorker({ host: 'gamma', pid: 303, state: 'refused', jobs: 0, message: reason });

describeInBrowser('the workers of a run', (browser) => {
  test.each([
    ['light', 'wide'],
    ['dark', 'wide'],
    ['light', 'phone'],
  ] as const)('are shown with totals and efficiency, %s, %s', async (colorScheme, size) => {
    const { workers } = fakeWorkers();
    const { url } = await startRun({
      status: 'running',
      workers: fakeWorkers({ workers: [...workers, refused] }),
    });
    const page = await browser.open({ colorScheme, viewport: sizes[size] });
    await page.goto(url);
    await untilCharts(page);
    const panel = panelOf(page);
    await panel.getByRole('heading', { name: 'Workers 2 connected' }).waitFor();
    expect(await factsOf(page, '.workers-facts > div')).toEqual({
      ...{ Stage: 'Step 12: gradients, 3 of 8', Jobs: '52 1.25 per second', Retries: '2' },
      ...{ 'Sent by the trainer': '96 MB', Received: '4.2 MB' },
    });
    const cards = panel.getByRole('listitem');
    expect(await cards.count()).toBe(2);
    expect(await cards.nth(0).locator('p').allTextContents()).toEqual([
      'alpha:101busy',
      'gradients of step 12connected 1 min 30 s',
    ]);
    expect(await factsOf(page, 'li:nth-child(2) > dl > div')).toEqual({
      ...{ Efficiency: '75%', Jobs: '30, 1 failed', Received: '48 MB', Sent: '2.5 MB' },
    });
    const bar = panel.getByRole('progressbar', { name: 'Efficiency of alpha:101' });
    expect(await bar.getAttribute('aria-valuenow')).toBe('75');
    await panel.getByText(`Refused: gamma:303 ${reason}`).waitFor();
    expect(await panel.locator('.workers-time').textContent()).toMatch(/^Updated /);
    await expectAccessible(page);
  });

  test('are announced as missing until one joins', async () => {
    const { url, run } = await startRun({
      status: 'running',
      workers: fakeWorkers({ workers: [] }),
    });
    const page = await browser.open();
    await page.goto(url);
    const panel = panelOf(page);
    await panel.getByText('Waiting for workers').waitFor();
    expect(await panel.locator('code').textContent()).toMatch(/proximal worker --queue URL$/);
    await expectAccessible(page);
    writeWorkers(run, fakeWorkers({ updatedAt: '2026-01-31T12:01:33.000Z' }));
    await panel.getByText('alpha:101').waitFor();
    expect(await panel.getByText('Waiting for workers').count()).toBe(0);
    const lost = { updatedAt: '2026-01-31T12:01:36.000Z', connected: false };
    writeWorkers(run, fakeWorkers(lost));
    await panel.getByText('Redis did not answer').waitFor();
    expect(await panel.getByRole('listitem').count()).toBe(2);
  });

  test.each([
    ['completed', /^When the run ended, Jan 31, 2026/],
    ['killed', /^The run was killed; last updated Jan 31, 2026/],
  ] as const)('of a %s run are its last ones', async (status, time) => {
    const { url } = await startRun({ status, workers: fakeWorkers() });
    const page = await browser.open({ locale: 'en-US' });
    await page.goto(url);
    const panel = panelOf(page);
    await panel.getByRole('heading', { name: 'Workers 2 at the end' }).waitFor();
    expect(await panel.locator('.workers-time').textContent()).toMatch(time);
    await expectAccessible(page);
  });

  test('have texts that are never markup, and many are folded', async () => {
    const workers = Array.from({ length: 20 }, (_, i) => {
      const text = hostileTexts[i % hostileTexts.length]!;
      const state = i % 4 === 3 ? 'refused' : 'busy';
      return fakeWorker({ host: `${text}${'x'.repeat(200)}`, pid: i, message: text, state });
    });
    const { url } = await startRun({ status: 'running', workers: fakeWorkers({ workers }) });
    const page = await browser.open({ viewport: sizes.phone });
    await page.goto(url);
    const panel = panelOf(page);
    await panel.getByText('3 more workers').click();
    await expect.poll(() => panel.getByRole('listitem').count(), patience).toBe(15);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    await expectAccessible(page);
  });

  test('are not shown for a run without a queue', async () => {
    const { url } = await startRun({ status: 'running' });
    const page = await browser.open();
    await page.goto(url);
    await untilCharts(page);
    expect(await panelOf(page).count()).toBe(0);
  });
});

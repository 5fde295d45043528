import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  METRIC_ROWS,
  SAMPLES,
  timeOpening,
  timeScrolling,
  writeLongRun,
} from '../../bench/dashboard/page-times.ts';
import { median } from '../../bench/measure.ts';
import { formatNumber } from '../../src/dashboard/client/format.ts';
import { describeInBrowser, readLegend } from '../helpers/browser.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { fakeMetrics, fakeSample } from '../helpers/fake-run.ts';

describeInBrowser('a run of 100 000 steps and 20 000 samples', (browser) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'proximal-scale-'));
    writeLongRun(join(folder, 'long'));
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));
  const start = () =>
    startTestDashboard({ folders: [folder], page: undefined, labels: join(folder, 'labels') });

  test('opens with all of its charts', async () => {
    const { url } = await start();
    const page = await browser.open();
    const cold = await timeOpening(page, url);
    const warm = await timeOpening(page, url);
    console.log(
      `measured opening: ${cold.toFixed(0)} ms at first, ${warm.toFixed(0)} ms after that`,
    );
    expect(await page.locator('.chart-card').count()).toBeGreaterThan(10);
    expect(await readLegend(page, 'KL to the reference')).toEqual({
      'objective/kl': {
        ...{ step: METRIC_ROWS, value: formatNumber(fakeMetrics(METRIC_ROWS)['objective/kl']) },
      },
    });
  });

  test('shows the right row wherever the list is scrolled to', async () => {
    const { url } = await start();
    const page = await browser.open();
    await page.goto(url);
    await page.getByRole('link', { name: 'Samples' }).click();
    await page.getByText(`${SAMPLES} samples`, { exact: true }).waitFor();
    const frames = await timeScrolling(page, 180);
    const sorted = frames.toSorted((a, b) => a - b);
    console.log(
      `measured scrolling: a frame takes ${median(frames).toFixed(1)} ms, 95 % less than ${sorted[Math.floor(0.95 * sorted.length)]!.toFixed(1)} ms`,
    );
    for (const place of [SAMPLES - 1, 3, SAMPLES / 2]) {
      await scrollTo(page, place);
      const row = page.locator(`[aria-rowindex="${place + 2}"]`);
      const { response } = fakeSample(SAMPLES - 1 - place);
      await row.getByText(response.trim(), { exact: true }).waitFor();
    }
    expect(await page.locator('.samples-body-row').count()).toBeLessThan(80);
  });
});

/** Scrolls a row to the top of the list. */
async function scrollTo(page: Page, place: number): Promise<void> {
  await page.locator('.samples-grid').evaluate((box, at) => {
    const rows = box.querySelector('.samples-rows');
    box.scrollTop = (at / (box.getAttribute('aria-rowcount') - 1)) * rows.clientHeight;
  }, place);
}

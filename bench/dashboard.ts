import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { startDashboard } from '../src/dashboard/server/start-dashboard.ts';
import { findBrowser } from '../test/helpers/find-browser.ts';
import { timeOpening, timeScrolling, writeLongRun } from './dashboard/page-times.ts';
import { trainingCost } from './dashboard/training-cost.ts';
import { median, round } from './measure.ts';

const OPENINGS = 5;
const FRAMES = 300;

/** Measures page times with 100 000 steps and 20 000 samples, and what an open page costs a training. */
export async function benchDashboard(): Promise<object> {
  const executablePath = findBrowser();
  if (executablePath === undefined) {
    throw new Error(
      'Cannot measure the dashboard: a browser is required; install chromium, or set PROXIMAL_BROWSER',
    );
  }
  const browser = await chromium.launch({ executablePath });
  try {
    const page = await measurePage(browser);
    return { ...page, ...(await trainingCost(browser)) };
  } finally {
    await browser.close();
  }
}

async function measurePage(browser: Browser): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-bench-'));
  const cold: number[] = [];
  const warm: number[] = [];
  const frames: number[] = [];
  try {
    writeLongRun(join(folder, 'long'));
    for (let i = 0; i < OPENINGS; i++) {
      const labels = join(folder, 'labels');
      const options = { folders: [folder], labels, port: 0, onError: console.error };
      // Opened immediately: the server has read nothing yet.
      const dashboard = await startDashboard(options);
      const page = await browser.newPage();
      cold.push(await timeOpening(page, dashboard.url));
      warm.push(await timeOpening(page, dashboard.url));
      await page.getByRole('link', { name: 'Samples' }).click();
      await page.locator('.samples-body-row').first().waitFor();
      frames.push(...(await timeScrolling(page, FRAMES)));
      await page.close();
      await dashboard.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const sorted = frames.toSorted((a, b) => a - b);
  return {
    open_ms: round(median(warm), 0),
    open_cold_ms: round(median(cold), 0),
    scroll_frame_ms_median: round(median(sorted), 1),
    scroll_frame_ms_p95: round(sorted[Math.floor(0.95 * sorted.length)]!, 1),
  };
}

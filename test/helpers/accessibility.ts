import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible, untilCharts } from './browser.ts';
import { startTestDashboard } from './dashboard-server.ts';
import { writeFakeRun } from './fake-run.ts';
import { makeLabelQueue } from './label-queue.ts';
import { makeTempFolder } from './runtime-temp-folder.ts';

const sizes = { wide: { width: 1280, height: 720 }, phone: { width: 390, height: 844 } };

type AccessibilityCase = readonly [colorScheme: 'light' | 'dark', size: keyof typeof sizes];

/** Checks every page with axe, and that nothing is wider than the window. */
export function testAccessibility(cases: readonly AccessibilityCase[]): void {
  describeInBrowser('axe finds no violations, and nothing is wider than the window', (browser) => {
    test.each(cases)('%s, %s', async (colorScheme, size) => {
      const folder = makeTempFolder();
      const labels = join(folder, 'labels');
      mkdirSync(labels);
      // Prompts repeat after 20 samples, so one can be followed.
      writeFakeRun(join(folder, 'runs', 'a'), { status: 'running', steps: 12, totalSteps: 100 });
      writeFakeRun(join(folder, 'runs', 'b'), { config: { learningRate: 1 }, message: 'It ended' });
      for (const kind of ['pair', 'rating', 'ranking'] as const) {
        await makeLabelQueue(kind, 2, join(labels));
      }
      const { url, errors } = await startTestDashboard({
        ...{ folders: [join(folder, 'runs')], page: undefined, labels },
      });
      const page = await browser.open({ colorScheme, viewport: sizes[size] });
      await page.goto(url);
      await checkOverview(page);
      await checkSamples(page);
      await checkLabels(page);
      expect(errors).toEqual([]);
    });
  });
}

async function checkOverview(page: Page): Promise<void> {
  await untilCharts(page);
  await page.getByLabel('Draw b').check();
  await page.getByText('1 differ').waitFor();
  await page.getByText('Log, 3 lines').click();
  await page.getByRole('button', { name: 'Options for Reward', exact: true }).click();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Keyboard help' }).click();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Formula for Reward', exact: true }).focus();
  await expectAccessible(page);
}

async function checkSamples(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Samples' }).click();
  const rows = page.getByRole('grid', { name: 'Samples' }).getByRole('row');
  await rows.nth(1).waitFor();
  await expectAccessible(page);
  await rows.nth(1).click();
  await expectNotTruncated(page, '.samples-step, .samples-score, .samples-kl, .samples-length');
  await page.getByRole('button', { name: 'Follow this prompt' }).click();
  await page.getByText('to this prompt').first().waitFor();
  await expectAccessible(page);
  await page.getByRole('tab', { name: 'Evaluation' }).click();
  await page.getByText('Evaluation at').waitFor();
  await expectAccessible(page);
  await page.getByRole('tab', { name: 'Samples' }).click();
  await page.getByRole('button', { name: 'Tokens' }).click();
  await page.locator('.tokens-fields').waitFor();
  await expectAccessible(page);
}

/** Checks that no number is truncated. */
async function expectNotTruncated(page: Page, cells: string): Promise<void> {
  const truncated = await page
    .locator(cells)
    .evaluateAll((all) => all.filter((cell) => cell.scrollWidth > cell.clientWidth));
  expect(truncated).toHaveLength(0);
}

async function checkLabels(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Label' }).click();
  await page.getByLabel('Your name').fill('Ada');
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await page.getByText('New queue').click();
  await page.getByLabel('Rank several').check();
  await expectAccessible(page);
  for (const kind of ['Choose the better of two', 'Rate from 1 to 5', 'Rank several']) {
    await page
      .locator('.label-queue', { hasText: kind })
      .getByRole('button', { name: 'Label Test' })
      .click();
    await page.locator('.label-task[aria-busy=false]').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: '← All queues' }).click();
  }
}

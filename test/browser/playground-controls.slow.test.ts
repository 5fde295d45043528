import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible } from '../helpers/browser.ts';
import { tabTo } from '../helpers/browser-keys.ts';
import { buildPlayground } from '../helpers/playground-server.ts';

const patience = { timeout: 90_000 };

async function untilReady(page: Page): Promise<void> {
  await page.getByRole('status').getByText('Ready').waitFor(patience);
}

describeInBrowser('the controls of the playground', (browser) => {
  const playground = buildPlayground();

  test('people compare pairs with the keyboard only', async () => {
    const page = await browser.open();
    await page.goto(await playground.serve());
    await untilReady(page);
    await tabTo(page, 'Brevity');
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown');
    expect(await page.getByLabel('Your thumbs').isChecked()).toBe(true);
    await tabTo(page, 'Start');
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { name: /Which summary is better/ });
    await heading.waitFor({ timeout: patience.timeout });
    await expectAccessible(page);
    // Answers the questions of one step: 1 prefers the first text.
    const done = page.getByText(/[1-9]\d* steps? done/);
    const answer = async () => {
      if (await heading.isVisible()) await page.keyboard.press('1');
      return done.count();
    };
    await expect.poll(answer, { ...patience, interval: 500 }).toBeGreaterThan(0);
  });

  test('a full storage is a notice, and training continues', async () => {
    const page = await browser.open();
    await page.addInitScript(`FileSystemFileHandle.prototype.createWritable = async () => {
      throw new DOMException('The quota has been exceeded', 'QuotaExceededError');
    };`);
    await page.goto(await playground.serve());
    await untilReady(page);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('button', { name: 'Pause' }).click({ timeout: patience.timeout });
    await page.getByText(/Paused, \d+ steps? done/).waitFor({ timeout: patience.timeout });
    await page
      .getByText(
        /^Cannot save proximal\/playground in the browser: it needs [\d.]+ MB, got [\d.]+ MB of free storage; free some/,
      )
      .waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(/Running, [12] steps? done/).waitFor({ timeout: patience.timeout });
  });
});

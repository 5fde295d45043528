import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible } from '../helpers/browser.ts';
import { tabTo } from '../helpers/browser-keys.ts';
import { buildPlayground } from '../helpers/playground-server.ts';

const patience = { timeout: 90_000, interval: 100 };

async function untilReady(page: Page): Promise<void> {
  await page.getByRole('status').getByText('Ready').waitFor({ timeout: patience.timeout });
}

describeInBrowser('the playground', (browser) => {
  const playground = buildPlayground();

  test('is accessible on a phone, dark and light', async () => {
    const url = await playground.serve();
    for (const colorScheme of ['dark', 'light'] as const) {
      const page = await browser.open({ colorScheme, viewport: { width: 390, height: 844 } });
      await page.goto(url);
      await untilReady(page);
      await page.getByText('What it writes before training').waitFor();
      await expectAccessible(page);
      await page.getByLabel('A formula').check();
      await expectAccessible(page);
    }
  });

  test('explains a wrong formula while it is typed and when the run starts', async () => {
    const page = await browser.open();
    await page.goto(await playground.serve());
    await untilReady(page);
    await page.getByLabel('A formula').check();
    await page.getByLabel('Score of a response').fill('alert(1)');
    const names = /Cannot read the formula: names must be words, .*, got "alert"/;
    await page.getByText(names).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('alert').getByText(names).waitFor();
  });

  test('says in one sentence that WebAssembly is blocked', async () => {
    const policy = "script-src 'self'";
    const page = await browser.open({ expected: /policy|WebAssembly|wasm/i });
    await page.goto(await playground.serve({ 'content-security-policy': policy }));
    const alert = page.getByRole('alert');
    await expect
      .poll(() => alert.textContent({ timeout: 60_000 }), patience)
      .toBe(
        "Cannot run a model: the browser must allow WebAssembly on this page, got a refusal; allow it in the browser's settings, or add 'wasm-unsafe-eval' to the page's Content-Security-Policy",
      );
  });

  test('runs under a strict policy that allows WebAssembly', async () => {
    const policy =
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";
    const page = await browser.open();
    await page.goto(await playground.serve({ 'content-security-policy': policy }));
    await untilReady(page);
  });

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
    const status = page.getByRole('status');
    for (let i = 0; i < 10; i++) {
      if ((await status.first().textContent())?.includes('1 step')) break;
      if (await heading.isVisible()) await page.keyboard.press('1');
      await page.waitForTimeout(500);
    }
    await page.getByText(/1 step done/).waitFor({ timeout: patience.timeout });
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

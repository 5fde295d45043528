import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible } from '../helpers/browser.ts';
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
});

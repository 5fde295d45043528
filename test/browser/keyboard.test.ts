import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatNumber } from '../../src/dashboard/client/format.ts';
import { describeInBrowser, readLegend, untilCharts } from '../helpers/browser.ts';
import { readFocus, tabTo } from '../helpers/browser-keys.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { fakeTokens, writeFakeRun } from '../helpers/fake-run.ts';
import { makeLabelQueue, readAnswerRows } from '../helpers/label-queue.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

describeInBrowser('the dashboard without a mouse', (browser) => {
  test('reaches every page, a sample, its tokens and a label, with a visible focus', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'runs', 'a'), { startedAt: '2026-01-31T13:00:00.000Z' });
    writeFakeRun(join(folder, 'runs', 'b'), { steps: 8 });
    const labels = join(folder, 'labels');
    const queue = await makeLabelQueue('ranking', 1, labels);
    const { url, errors } = await startTestDashboard({
      ...{ folders: [join(folder, 'runs')], page: undefined, labels },
    });
    const page = await browser.open();
    await page.goto(url);
    await untilCharts(page);
    await walkOverview(page);
    await press(page, 'g', 's');
    await expectArrival(page, 'Samples');
    await walkSamples(page);
    await expectArrival(page, 'Tokens');
    await walkTokens(page);
    await press(page, 'g', 'l');
    await rankResponses(page);
    const [row] = readAnswerRows(queue);
    expect(row).toMatchObject({ labeller: 'Ada', answer: { kind: 'ranking' } });
    await press(page, 'g', 'o');
    await expectArrival(page, 'Overview');
    await untilCharts(page);
    expect(errors).toEqual([]);
  });
});

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** Moves the focus to the start of the page, so that Tab continues from there. */
async function expectArrival(page: Page, name: string): Promise<void> {
  const focus = () =>
    page.evaluate('document.activeElement.matches("main") && document.activeElement.ariaLabel');
  await expect.poll(focus).toBe(name);
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });

/** Draws b together with a, selects it, moves the cursor of the charts, and opens the help. */
async function walkOverview(page: Page): Promise<void> {
  await press(page, 'Tab');
  expect((await readFocus(page)).name).toBe('Skip to content');
  await tabTo(page, 'Draw b');
  await press(page, 'Space');
  await page.getByText('0 differ').waitFor();
  await press(page, 'ArrowUp');
  expect((await readFocus(page)).name).toMatch(/^a/);
  await press(page, 'ArrowDown', 'Enter');
  await heading(page, 'b').waitFor();
  await tabTo(page, 'Reward: step');
  await press(page, 'ArrowLeft');
  // All charts share one cursor.
  const stepOf = async () => (await readLegend(page, 'Policy loss'))['loss/policy_avg']?.step;
  await expect.poll(stepOf).toBe(7);
  await press(page, '?');
  await heading(page, 'Keyboard shortcuts').waitFor();
  await press(page, 'Escape');
  await heading(page, 'Keyboard shortcuts').waitFor({ state: 'detached' });
  expect((await readFocus(page)).name).toBe('Reward: step');
}

/** Opens the evaluation, goes back, and opens the tokens of the third sample. */
async function walkSamples(page: Page): Promise<void> {
  await page.getByRole('grid', { name: 'Samples' }).waitFor();
  await tabTo(page, 'Samples');
  await press(page, 'ArrowRight');
  await page.getByText('Evaluation at').waitFor();
  await press(page, 'ArrowLeft');
  await page.getByRole('grid', { name: 'Samples' }).waitFor();
  await tabTo(page, 'Search prompts and responses');
  await tabTo(page, 'Samples');
  await press(page, 'ArrowDown', 'ArrowDown', 'Enter');
  // The newest steps come first, two samples each.
  await heading(page, 'Step 7, prompt 12').waitFor();
  await tabTo(page, 'Tokens');
  await press(page, 'Enter');
}

async function walkTokens(page: Page): Promise<void> {
  await heading(page, 'Tokens of sample 12').waitFor();
  await tabTo(page, '1: ');
  await press(page, 'ArrowRight', 'ArrowRight');
  await heading(page, 'Token 3 of 4').waitFor();
  expect((await readFocus(page)).name).toBe(
    `3: swer, Advantage A ${formatNumber(fakeTokens(12).advantages[2])}`,
  );
  await press(page, 'End');
  await heading(page, 'Token 4 of 4').waitFor();
  await press(page, 'p');
  await heading(page, 'Tokens of sample 11').waitFor();
}

async function rankResponses(page: Page): Promise<void> {
  await page.getByLabel('Your name').waitFor();
  await page.keyboard.type('Ada');
  await press(page, 'Enter');
  await page.getByRole('button', { name: 'Label Test' }).waitFor();
  await tabTo(page, 'Label Test');
  await press(page, 'Enter');
  await page.locator('.label-task').waitFor();
  await press(page, '2', '1', '3', 'Enter');
  await heading(page, 'Thank you! All tasks are answered.').waitFor();
}

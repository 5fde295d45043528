import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, expectAccessible } from '../helpers/browser.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { hostileTexts, writeFakeRun } from '../helpers/fake-run.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const patience = { timeout: 20_000, interval: 50 };

/** A dashboard of three runs: two of PPO with different settings, and an SFT run without a reward. */
async function startRuns() {
  const folder = makeTempFolder();
  writeFakeRun(join(folder, 'runs', 'a'), { startedAt: '2026-01-31T13:00:00.000Z', steps: 8 });
  writeFakeRun(join(folder, 'runs', 'b'), {
    ...{ startedAt: '2026-01-31T15:00:00.000Z', status: 'running', totalSteps: 40 },
    config: { klCoef: 0.2, loraR: 4 },
  });
  writeFakeRun(join(folder, 'runs', 'c'), { kind: 'sft', status: 'failed', steps: 4 });
  const options = { folders: [join(folder, 'runs')], page: undefined };
  const dashboard = await startTestDashboard({ ...options, labels: join(folder, 'labels') });
  return { ...dashboard, folder: join(folder, 'runs') };
}

const rows = (page: Page) => page.locator('.runs-table tbody tr');
const names = (page: Page) => rows(page).locator('th').allTextContents();

describeInBrowser('the runs page', (browser) => {
  test('sorts by any column, shows the latest results, and finds runs by search words', async () => {
    const { url } = await startRuns();
    const page = await browser.open();
    await page.goto(`${url}#/runs`);
    await rows(page).first().waitFor();
    expect(await names(page)).toEqual(['b', 'a', 'c']);
    const sortBy = (title: string) =>
      page.getByRole('columnheader', { name: title, exact: true }).getByRole('button').click();
    await sortBy('Reward');
    // 0.010 after 10 steps, 0.008 after 8; a run without a reward comes last.
    expect(await names(page)).toEqual(['b', 'a', 'c']);
    await sortBy('Reward');
    await expect.poll(() => names(page), patience).toEqual(['a', 'b', 'c']);
    expect(await rows(page).nth(0).textContent()).toContain('0.00875.0%0.250');
    const sorted = page.locator('th[aria-sort=ascending]');
    expect(await sorted.allTextContents()).toEqual(['Reward ▲']);
    await page.getByLabel('Search runs').fill('sft FAILED');
    await expect.poll(() => names(page), patience).toEqual(['c']);
    await page.getByText('1 of 3 runs').waitFor();
    await page.getByLabel('Search runs').fill('nothing');
    await page.getByText('No run matches the search.').waitFor();
  });

  test('shows the results of each run on a phone without scrolling sideways', async () => {
    const { url } = await startRuns();
    const page = await browser.open({ viewport: { width: 390, height: 844 } });
    await page.goto(`${url}#/runs`);
    await rows(page).first().waitFor();
    await expectAccessible(page);
    const cells = rows(page).first().locator('td[data-title]');
    for (const cell of await cells.all()) {
      const box = await cell.boundingBox();
      if (box !== null) expect(box.x + box.width).toBeLessThanOrEqual(390);
    }
    await page.getByRole('columnheader', { name: 'Reward', exact: true }).click();
    await page.locator('th[aria-sort=descending]', { hasText: 'Reward' }).waitFor();
  });

  test('saves a note in the run, finds it, and shows it on the overview and elsewhere', async () => {
    const { url, folder } = await startRuns();
    const page = await browser.open();
    const other = await browser.open();
    await page.goto(`${url}#/runs`);
    await other.goto(`${url}#/runs`);
    await page.getByRole('button', { name: 'Add a note to a', exact: true }).click();
    const note = `β too low ${hostileTexts[0]}`;
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type(note);
    await page.getByRole('button', { name: 'Save note' }).click();
    await page.getByText(note).waitFor();
    expect(JSON.parse(readFileSync(join(folder, 'a', 'note.json'), 'utf8'))).toEqual({ note });
    await other.getByText(note).waitFor();
    await page.getByLabel('Search runs').fill('too low');
    await expect.poll(() => names(page), patience).toEqual(['a']);
    await page.getByRole('link', { name: 'a', exact: true }).click();
    await page.locator('.run-panel').getByText(note).waitFor();
    await page.getByRole('button', { name: 'Edit the note of a' }).click();
    await page.getByLabel('Note of a').fill('');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Add a note to a' }).waitFor();
    expect(existsSync(join(folder, 'a', 'note.json'))).toBe(false);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });

  test('shows only the settings in which the ticked runs differ, and draws them', async () => {
    const { url } = await startRuns();
    const page = await browser.open();
    await page.goto(`${url}#/runs`);
    await page.getByText('Tick two or more runs').waitFor();
    await page.getByLabel('Compare a', { exact: true }).check();
    await page.getByLabel('Compare b', { exact: true }).check();
    const config = page.getByRole('region', { name: 'Config' });
    await expect
      .poll(() => config.locator('tbody tr').allTextContents(), patience)
      .toEqual(['klCoef (differs)0.20.1', 'loraR (differs)4not set']);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Draw the 2 ticked runs' }).click();
    await expect.poll(() => page.locator('.run-item input:checked').count(), patience).toBe(2);
  });

  test.each(['light', 'dark'] as const)(
    'fits a phone and is accessible, %s',
    async (colorScheme) => {
      const { url } = await startRuns();
      const page = await browser.open({ colorScheme, viewport: { width: 390, height: 844 } });
      await page.goto(`${url}#/runs`);
      await page.getByLabel('Compare a', { exact: true }).check();
      await page.getByLabel('Compare c', { exact: true }).check();
      await page.getByRole('region', { name: 'Config' }).waitFor();
      await page.getByRole('button', { name: 'Add a note to a', exact: true }).click();
      await expectAccessible(page);
    },
  );
});

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { rewardRun } from '../../src/run/reward-run.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { describeInBrowser } from '../helpers/browser.ts';
import { tabTo } from '../helpers/browser-keys.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { readAnswerRows } from '../helpers/label-queue.ts';
import { readLog } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';
import { startWatched } from '../helpers/watched-run.ts';

vi.setConfig({ hookTimeout: 60_000 });

describeInBrowser('the Label page in the browser', (browser) => {
  let folder: string;
  const at = (...names: string[]) => join(folder, ...names);
  beforeAll(async () => {
    folder = await makeTrainFolder();
    mkdirSync(at('runs'));
    const course = { maxNewTokens: 6, batchSize: 4, numEpochs: 3, validationFraction: 0 };
    await trainRun({
      ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('reward.ts')] },
      ...{ output: at('runs', 'first'), saveInterval: 0, ...course },
    });
  });
  const open = async (...runs: string[]) => {
    const { url, errors } = await startTestDashboard({
      ...{ folders: [at(...runs)], page: undefined, labels: at(...runs, 'labels') },
    });
    const page = await browser.open();
    await page.goto(`${url}#/label`);
    return { page, errors };
  };

  test('ten pairs answered by keyboard become ten rows that train a reward model', async () => {
    const { page, errors } = await open('runs');
    await page.getByLabel('Your name').waitFor();
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    await createQueue(page);
    await tabTo(page, 'Label ten pairs');
    await page.keyboard.press('Enter');
    const shown: { prompt: string; best: string }[] = [];
    for (let i = 0; i < 10; i++) {
      await page.getByText(`${i} of 10`, { exact: true }).waitFor();
      await page.locator('.label-task[aria-busy=false]').waitFor();
      const prompt = await textOf(page, '.label-prompt .label-text');
      const responses = await page.locator('.label-card .label-text').allTextContents();
      const choice = i % 2;
      shown.push({ prompt, best: responses[choice]! });
      if (i === 4) {
        await page.keyboard.press('n');
        await page.keyboard.type('note 1 2 x');
        await page.keyboard.press('Escape');
      }
      await page.keyboard.press(String(choice + 1));
    }
    await page.getByText('Thank you! All tasks are answered.').waitFor();
    const [queue] = readdirSync(at('runs', 'labels'));
    const rows = readAnswerRows(at('runs', 'labels', queue!));
    expect(rows).toHaveLength(10);
    expect(rows.every(({ labeller }) => labeller === 'Ada')).toBe(true);
    expect(rows.filter(({ note }) => note === 'note 1 2 x')).toHaveLength(1);

    const downloading = page.waitForEvent('download');
    await tabTo(page, 'Download the answers');
    await page.keyboard.press('Enter');
    const exported = at('preferences.jsonl');
    await (await downloading).saveAs(exported);
    const lines = readFileSync(exported, 'utf8').trimEnd().split('\n');
    const pairs = lines.map((line) => JSON.parse(line));
    expect(pairs.map(({ prompt, chosen }) => ({ prompt, best: chosen })).toSorted(byText)).toEqual(
      shown.toSorted(byText),
    );
    const result = await rewardRun({
      ...{ modelName: at('model'), data: exported, output: at('reward') },
      ...{ batchSize: 4, numEpochs: 2, validationFraction: 0 },
    });
    expect(result).toMatchObject({ items: { unit: 'pairs', train: 10 } });
    expect(result.steps).toBeGreaterThan(1);
    expect(errors).toEqual([]);
  });

  test('a queue that a model fills shows its progress', async () => {
    const { page, errors } = await open();
    await page.getByLabel('Your name').fill('Ada');
    await page.keyboard.press('Enter');
    await page.getByLabel('New responses from a model').check();
    await page.getByLabel('Model: a folder').fill(at('model'));
    await page.getByLabel('File of prompts').fill(at('prompts.jsonl'));
    await page.getByLabel('Maximum response length').fill('6');
    await page.getByLabel('Name (optional)').fill('fresh');
    // A tiny model finishes quickly, so an observer records the texts.
    await page.evaluate(`window.progressTexts = new Set(); new MutationObserver(() => {
      window.progressTexts.add(document.querySelector('.label-filling')?.textContent ?? 'nothing');
    }).observe(document.body, { childList: true, subtree: true, characterData: true });`);
    await page.getByRole('button', { name: 'Create queue' }).click();
    await page.getByText(/^Created fresh with \d+ tasks/).waitFor();
    const texts = await page.evaluate<string[]>('[...window.progressTexts]');
    expect(texts).toContain('A model is filling fresh: 0 of 12 prompts done');
    await page.locator('.label-filling').waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });

  test('a run waits for ratings from the page and trains on them', async () => {
    mkdirSync(at('waiting'));
    const output = at('waiting', 'human');
    const { page } = await open('waiting');
    await page.getByLabel('Your name').fill('Grace');
    await page.keyboard.press('Enter');
    await page.getByText('There is nothing to label yet').waitFor();
    const run = startWatched(
      ...['train', '--config', at('train.yaml'), '--output', output, '--reward', 'human'],
      ...['--batch-size', '2', '--max-steps', '2', '--json'],
    );
    await page.getByText('A run is waiting for your scores').waitFor();
    await page.getByRole('button', { name: 'Label Scores for human' }).click();
    const mean = async () =>
      (await run.until(({ type }) => type === 'step')) as { metrics?: Record<string, number> };
    for (const ratings of [
      ['5', '4'],
      ['1', '3'],
    ]) {
      for (const [i, rating] of ratings.entries()) {
        await page.getByText(`${i} of 2`, { exact: true }).waitFor();
        await page.locator('.label-task[aria-busy=false]').waitFor();
        await page.keyboard.press(rating);
      }
      const { metrics } = await mean();
      // Scores are (rating − 3)/2: 1 and ½, then −1 and 0.
      expect(metrics?.['rewards/human/mean']).toBe(ratings[0] === '5' ? 0.75 : -0.5);
    }
    expect((await run.ended).status).toBe(0);
    expect(readLog(output, 'metrics.jsonl')).toHaveLength(2);
    await page.getByText('Thank you! The run has ended.').waitFor();
    await page.getByText('It needs no more scores.').waitFor();
  });
});

/** Creates a queue of ten pairs from the only run with the keyboard. */
async function createQueue(page: Page): Promise<void> {
  await page.getByLabel('Samples of a run').check();
  await tabTo(page, 'Maximum number of tasks');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('10');
  await tabTo(page, 'Name (optional)');
  await page.keyboard.type('ten pairs');
  await page.keyboard.press('Enter');
  await page.getByText('Created ten pairs with 10 tasks.').waitFor();
}

async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).textContent()) ?? '';
}

function byText(a: { prompt: string; best: string }, b: { prompt: string; best: string }): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

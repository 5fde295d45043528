import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import type { StoredTask } from '../../src/dashboard/labels/queue-schema.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { describeInBrowser, expectAccessible } from '../helpers/browser.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { writeFakeRun } from '../helpers/fake-run.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';
import { readLog } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ hookTimeout: 120_000 });

describeInBrowser('a human evaluation in the browser', (browser) => {
  let folder: string;
  const at = (...names: string[]) => join(folder, ...names);
  beforeAll(async () => {
    folder = await makeTrainFolder();
    await trainRun({
      ...{ modelName: at('model'), prompts: at('prompts.jsonl'), reward: [at('reward.ts')] },
      ...{ output: at('runs', 'demo'), maxNewTokens: 6, maxSteps: 3, batchSize: 4 },
      ...{ learningRate: 1e-2, validationFraction: 0.7 },
    });
  });
  const open = async (runs: string) => {
    const { url, errors } = await startTestDashboard({
      ...{ folders: [runs], page: undefined, labels: at('labels') },
    });
    const page = await browser.open();
    await page.goto(`${url}#/label`);
    return { page, errors, url };
  };

  test('is created with the default source, labelled blind and shown with the run', async () => {
    const { page, errors } = await open(at('runs'));
    await page.getByLabel('Your name').fill('Ada');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create queue' }).click();
    const created = page.getByText(/^Created demo against its reference with \d+ tasks\./);
    await created.waitFor();
    const [, total] = /with (\d+) tasks/.exec((await created.textContent())!)!;
    await page.getByRole('button', { name: 'Label demo against its reference' }).click();
    const tasks = await readTasks(page);
    for (let i = 0; i < Number(total); i++) {
      await page.getByText(`${i} of ${total}`, { exact: true }).waitFor();
      await page.locator('.label-task[aria-busy=false]').waitFor();
      await page.getByRole('heading', { name: 'Which response is better?' }).waitFor();
      if (i === 0) await expectAccessible(page);
      expect(await page.locator('main').textContent()).not.toMatch(/policy|step 3/i);
      await preferPolicy(page, tasks);
    }
    await page.getByText('Thank you! All tasks are answered.').waitFor();
    await page.getByText(/proximal report \S*runs\/demo$/).waitFor();
    await page.getByRole('link', { name: 'demo', exact: true }).click();
    const card = page.getByRole('region', { name: 'Human evaluation' });
    await card.waitFor();
    const [row] = readLog(at('runs', 'demo'), 'evaluations.jsonl').flatMap((line) =>
      'human' in line ? [line as unknown as { human: { judged: number; winRate: number } }] : [],
    );
    const { judged, winRate } = row!.human;
    expect(await card.textContent()).toContain(
      `People prefer the policy of step 3 to the reference on ${(100 * winRate).toFixed(1)}% of ${judged} prompts.`,
    );
    expect(winRate).toBeGreaterThan(0.5);
    await expectAccessible(page);
    expect(errors).toEqual([]);
  });

  /** The stored tasks of the only queue, which the page does not get. */
  async function readTasks(page: Page): Promise<StoredTask[]> {
    const [queue] = await page.evaluate<{ id: string }[]>(
      'fetch("/api/labels").then((response) => response.json())',
    );
    const text = readFileSync(at('labels', queue!.id, 'tasks.jsonl'), 'utf8');
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  test('an empty name is rejected with a message', async () => {
    const { page } = await open(at('runs'));
    await page.getByLabel('Your name').fill('   ');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('alert').getByText('Enter your name to start.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Your name').fill('Ada');
    await page.getByText('Enter your name to start.').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByText('New queue').waitFor();
  });

  test('the message of a run that waits links to the Label page', async () => {
    const runs = makeTempFolder();
    const message = 'Waiting for 2 human scores on the Label page';
    writeFakeRun(join(runs, 'waiting'), { status: 'waiting', message });
    const { page, url } = await open(runs);
    await page.goto(url);
    await page.getByRole('link', { name: 'Label page' }).click();
    await page.getByLabel('Your name').waitFor();
  });
});

async function preferPolicy(page: Page, tasks: readonly StoredTask[]): Promise<void> {
  const prompt = await page.locator('.label-prompt .label-text').textContent();
  const responses = await page.locator('.label-card .label-text').allTextContents();
  const task = tasks.find((one) => one.prompt === prompt)!;
  const { text } = task.responses.find(({ from }) => from.side === 'policy')!;
  const shown = responses.indexOf(text);
  await page.keyboard.press(String(shown + 1));
}

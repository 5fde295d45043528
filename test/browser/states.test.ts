import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatFixed } from '../../src/dashboard/client/format.ts';
import { describeInBrowser, expectAccessible, untilCharts } from '../helpers/browser.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { type FakeRunOptions, fakeMetrics, fakeSample, writeFakeRun } from '../helpers/fake-run.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const patience = { timeout: 20_000, interval: 50 };

async function startRun(options: FakeRunOptions) {
  const folder = makeTempFolder();
  writeFakeRun(join(folder, 'runs', 'a'), options);
  return startTestDashboard({
    ...{ folders: [join(folder, 'runs')], page: undefined, labels: join(folder, 'labels') },
  });
}

describeInBrowser('the page of a run', (browser) => {
  test('headline numbers go from the first to the last evaluation, with intervals', async () => {
    const { url } = await startRun({ config: { evalBestOf: 2 } });
    const page = await browser.open();
    await page.goto(url);
    const headlines = page.getByRole('region', { name: 'Headline numbers' });
    await headlines.waitFor();
    const texts = () => headlines.locator('dl > div').allTextContents();
    await expect
      .poll(texts, patience)
      .toEqual([
        'Reward score0.000→0.010step 0 → 10 · −0.240 to 0.260',
        'Win rate50.0%→75.0%step 0 → 10 · 30.0% to 95.0%',
        'KL nats per response0.250→0.250step 0 → 10',
      ]);
    expect(await headlines.textContent()).toContain('Measured on 4 validation prompts');
  });

  test('without evaluations, headline numbers come from training', async () => {
    const { url } = await startRun({ evaluations: 0 });
    const page = await browser.open();
    await page.goto(url);
    const headlines = page.getByRole('region', { name: 'Headline numbers' });
    await headlines.waitFor();
    const [first, last] = [1, 10].map((step) =>
      formatFixed(fakeMetrics(step)['objective/scores'], 3),
    );
    expect(await headlines.locator('dl > div').first().textContent()).toBe(
      `Reward score${first}→${last}step 1 → 10`,
    );
    expect(await headlines.textContent()).toContain("the step's own responses");
  });

  test('an ended run has no control buttons; an active one has those for its state', async () => {
    const control = ['Pause', 'Resume', 'Save now', 'Stop after this step'];
    for (const [status, expected] of [
      ['completed', []],
      ['failed', []],
      ['running', ['Pause', 'Save now', 'Stop after this step']],
      ['paused', ['Resume', 'Save now', 'Stop after this step']],
    ] as const) {
      const { url } = await startRun({ status });
      const page = await browser.open();
      await page.goto(url);
      await untilCharts(page);
      const shown = [];
      for (const name of control) {
        if ((await page.getByRole('button', { name, exact: true }).count()) > 0) shown.push(name);
      }
      expect([status, shown]).toEqual([status, expected]);
      expect(await page.locator('button:disabled, button[aria-disabled=true]').count()).toBe(0);
      const word = status === 'running' || status === 'paused' ? 'live' : 'connected';
      await expect.poll(() => page.locator('.connection').textContent(), patience).toBe(word);
    }
  });

  test.each([
    ['sft', { kind: 'sft' }, 'Supervised fine-tuning learns from existing texts', 'held-out data'],
    ['reward', { kind: 'reward' }, 'A reward model scores texts', 'held-out data'],
    [
      'ppo without a step',
      { steps: 0, evaluations: 0, status: 'failed' },
      'ended before its first step',
      'never evaluated',
    ],
  ] as const)('empty pages of a %s run explain why', async (_, options, samples, evaluation) => {
    const { url } = await startRun(options);
    const page = await browser.open();
    await page.goto(url);
    await page.getByRole('link', { name: 'Samples' }).click();
    await page.getByText(samples).waitFor();
    await expectAccessible(page);
    expect(await page.getByRole('grid').count()).toBe(0);
    await page.getByRole('tab', { name: 'Evaluation' }).click();
    await page.getByText(evaluation).waitFor();
  });

  test('a run that failed before its first step does not say that it is running', async () => {
    const { url } = await startRun({ steps: 0, evaluations: 0, status: 'failed' });
    const page = await browser.open();
    await page.goto(url);
    await page.getByText('the run ended before its first step was complete').waitFor();
    expect(await page.getByText('the first step is running').count()).toBe(0);
  });

  test('samples show the score of each source, marks are explained, and only repeated prompts can be followed', async () => {
    const { url } = await startRun({ steps: 11, samples: 22 });
    const page = await browser.open();
    await page.goto(url);
    await page.getByRole('link', { name: 'Samples' }).click();
    const grid = page.getByRole('grid', { name: 'Samples' });
    await grid.getByRole('row').nth(1).waitFor();
    const headers = await grid.getByRole('columnheader').allTextContents();
    expect(headers).toEqual([
      'Step ▼',
      'Score',
      'gold',
      'brevity',
      'KL',
      'Length',
      'Prompt',
      'Response',
    ]);
    const { score, sourceScores, kl } = fakeSample(20);
    const cells = await grid.getByRole('row').nth(1).getByRole('gridcell').allTextContents();
    expect(cells.slice(1, 5)).toEqual(
      [score, sourceScores.gold, sourceScores.brevity, kl].map((x) => formatFixed(x, 3)),
    );
    await page.getByText('truncated: no stop token').waitFor();
    // Sample 20 repeats the prompt of sample 0; sample 19 is the only one of its prompt.
    await grid.getByRole('row').nth(1).click();
    await page.getByRole('button', { name: 'Follow this prompt (2 responses)' }).waitFor();
    await grid.getByRole('row').nth(4).click();
    await page.getByText('The only response to this prompt.').waitFor();
    expect(await page.getByRole('button', { name: 'Follow this prompt' }).count()).toBe(0);
  });

  test('a phone shows a chart on its first screen', async () => {
    const { url } = await startRun({ status: 'running', config: { evalBestOf: 2 } });
    const page = await browser.open({ viewport: { width: 390, height: 844 } });
    await page.goto(url);
    // Validation charts come first, but their numbers arrive after those of training.
    const plot = page.getByRole('figure', { name: 'Validation reward' }).locator('.plot');
    await plot.waitFor();
    const firstTitle = () => page.locator('.chart-card').first().getAttribute('aria-label');
    await expect.poll(firstTitle, patience).toBe('Validation reward');
    const box = await plot.boundingBox();
    expect(box!.y + box!.height).toBeLessThan(844);
    await expectAccessible(page);
  });

  test('commands are those that work where the dashboard was started', async () => {
    const folder = makeTempFolder();
    const options = { page: undefined, labels: join(folder, 'labels'), program: 'npx proximal' };
    const empty = await startTestDashboard({ ...options, folders: [folder] });
    const page = await browser.open();
    await page.goto(empty.url);
    await page.getByText('npx proximal train', { exact: true }).waitFor();
    await page.goto(`${empty.url}#/label`);
    await page.getByLabel('Your name').fill('Ada');
    await page.keyboard.press('Enter');
    await page.getByText('npx proximal train --reward human').waitFor();

    writeFakeRun(join(folder, 'runs', 'a'), { kind: 'sft' });
    const { url } = await startTestDashboard({ ...options, folders: [join(folder, 'runs')] });
    await page.goto(url);
    await page.getByRole('link', { name: 'Samples' }).click();
    await page.getByText('use "npx proximal generate"').waitFor();
  });

  test('the selected run is in view in a long list', async () => {
    const folder = makeTempFolder();
    for (let i = 0; i < 12; i++) writeFakeRun(join(folder, 'runs', `run-${i + 10}`), { steps: 2 });
    const { url } = await startTestDashboard({
      ...{ folders: [join(folder, 'runs')], page: undefined, labels: join(folder, 'labels') },
    });
    const page = await browser.open();
    await page.goto(url);
    await page.getByLabel('Run', { exact: true }).selectOption('run-21');
    const isInside = () =>
      page.evaluate<boolean>(`(() => {
        const list = document.querySelector('.run-list > ul').getBoundingClientRect();
        const item = document.querySelector('.run-item.chosen').getBoundingClientRect();
        return item.top >= list.top - 1 && item.bottom <= list.bottom + 1;
      })()`);
    await expect.poll(isInside, patience).toBe(true);
    expect(await page.evaluate('scrollY')).toBe(0);
  });

  test('nothing is below the settings of compared runs', async () => {
    const folder = makeTempFolder();
    const settings = (value: number) =>
      Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`setting${i}`, value]));
    for (const [i, name] of ['a', 'b'].entries()) {
      writeFakeRun(join(folder, 'runs', name), { config: settings(i) });
    }
    const { url } = await startTestDashboard({
      ...{ folders: [join(folder, 'runs')], page: undefined, labels: join(folder, 'labels') },
    });
    const page = await browser.open();
    await page.goto(url);
    await page.getByLabel('Draw b').check();
    await page.getByText('80 differ').waitFor();
    const blank = await page.evaluate<number>(`document.documentElement.scrollHeight - scrollY -
      document.querySelector('.config').getBoundingClientRect().bottom`);
    expect(blank).toBeLessThan(40);
  });
});

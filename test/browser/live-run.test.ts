import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { formatFixed, formatNumber } from '../../src/dashboard/client/format.ts';
import { checkpointName } from '../../src/loop/checkpoint-store.ts';
import { describeInBrowser, readLegend, untilCharts } from '../helpers/browser.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { runCli } from '../helpers/run-cli.ts';
import { startServing } from '../helpers/serving-command.ts';
import { readLog } from '../helpers/stage-setup.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ hookTimeout: 60_000 });

const patience = { timeout: 30_000, interval: 50 };

type Numbers = Readonly<Record<string, number>>;

describeInBrowser('a real PPO run in the browser', (browser) => {
  let folder: string;
  let run: string;
  beforeAll(async () => {
    folder = await makeTrainFolder();
    run = join(folder, 'runs', 'live');
  });
  const stateOf = () => JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'));

  test('updates without a reload, and can be paused, saved, resumed and stopped from the page', async () => {
    const { url, end } = await startServing(
      ...(['stderr', 'train', '--config', join(folder, 'train.yaml'), '--output', run] as const),
      ...['--num-epochs', '1000', '--save-interval', '0', '--dashboard', '0'],
    );
    // The run's server ends with the run, and the page keeps reconnecting.
    const page = await browser.open({ expected: /net::ERR_/ });
    await page.goto(url);
    await page.evaluate('window.isFirstLoad = true');
    await untilCharts(page);
    const first = await drawnStep(page);
    await expect.poll(() => drawnStep(page), patience).toBeGreaterThan(first + 2);

    await ask(page, 'Pause', 'paused');
    const { step } = stateOf();
    await expect.poll(() => drawnStep(page), patience).toBe(step);
    await expectDrawn(page, readLog(run, 'metrics.jsonl').at(-1) as Numbers);
    await ask(page, 'Save now', 'paused');
    const checkpoints = () => readdirSync(join(run, 'checkpoints'));
    // An earlier evaluation may also have saved one.
    await expect.poll(checkpoints, patience).toContain(checkpointName(step));
    await ask(page, 'Resume', 'running');
    await expect.poll(() => drawnStep(page), patience).toBeGreaterThan(step);
    await ask(page, 'Stop after this step', 'running');
    await page.getByRole('button', { name: 'Stop run' }).click();
    expect((await end).status).toBe(130);
    await expect.poll(() => readStatus(page), patience).toBe('interrupted');
    expect(stateOf().status).toBe('interrupted');
    expect(await page.evaluate('window.isFirstLoad')).toBe(true);
  });

  test('shows the recorded tokens, with arithmetic that matches the run', async () => {
    const { url, errors } = await startTestDashboard({
      ...{ folders: [join(folder, 'runs')], page: undefined, labels: join(folder, 'labels') },
    });
    const page = await browser.open();
    await page.goto(url);
    await page.getByRole('link', { name: 'Samples' }).click();
    const samples = readLog(run, 'samples.jsonl');
    await page.getByText(`${samples.length} samples`).waitFor();
    await expectTokens(page, run);
    expect(errors).toEqual([]);
  });

  test('can be written as a report that opens without a network', async () => {
    const report = join(folder, 'live-report.html');
    expect((await runCli('report', run, '--output', report)).status).toBe(0);
    const page = await browser.open({ offline: true });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`file://${report}`);
    await untilCharts(page);
    await expectDrawn(page, readLog(run, 'metrics.jsonl').at(-1) as Numbers);
    await page.getByRole('link', { name: 'Samples' }).click();
    await expectTokens(page, run);
    expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([`file://${report}`]);
  });
});

async function drawnStep(page: Page): Promise<number> {
  return (await readLegend(page, 'Reward'))['objective/scores']?.step ?? 0;
}

async function readStatus(page: Page): Promise<string | null> {
  return page.locator('.run-panel .status-badge').textContent();
}

/** Clicks a control button, and waits until the page shows a status. */
async function ask(page: Page, button: string, status: string): Promise<void> {
  await page.getByRole('group', { name: 'Control' }).getByRole('button', { name: button }).click();
  await expect.poll(() => readStatus(page), patience).toBe(status);
}

/** Compares the last numbers of several charts with a line of metrics. */
async function expectDrawn(page: Page, row: Numbers): Promise<void> {
  for (const [chart, ...metrics] of [
    ['Reward', 'objective/scores', 'objective/rlhf_reward'],
    ['KL to the reference', 'objective/kl'],
    ['Policy loss', 'loss/policy_avg'],
    ['Explained variance', 'ppo/val/var_explained'],
    ['Length', 'completions/mean_length', 'completions/min_length', 'completions/max_length'],
  ] as const) {
    const legend = await readLegend(page, chart);
    expect(legend).toEqual(
      Object.fromEntries(
        metrics.map((name) => [name, { step: row.step, value: formatNumber(row[name]) }]),
      ),
    );
  }
}

/** Opens one of the longest samples and compares every token's numbers with the logs. */
async function expectTokens(page: Page, run: string): Promise<void> {
  const grid = page.getByRole('grid', { name: 'Samples' });
  await grid.getByRole('button', { name: 'Length' }).click();
  await grid.locator('[aria-sort=descending]', { hasText: 'Length' }).waitFor();
  await grid.locator('[aria-rowindex="2"] .samples-length', { hasText: '6' }).waitFor();
  await grid.getByRole('row').nth(1).click();
  const details = page.locator('.samples-details');
  const factOf = (name: string) =>
    details.locator('.samples-facts div', { hasText: name }).locator('dd').textContent();
  const [score, kl] = [await factOf('Score'), await factOf('KL')];
  await details.getByRole('button', { name: 'Tokens' }).click();
  await page.locator('.tokens-fields').waitFor();
  const index = Number(/samples\/(\d+)$/.exec(page.url())![1]);
  const sample = sampleOf(run, index);
  const tokens = tokensOf(run, index);
  expect(sample.length).toBe(6);
  expect([score, kl]).toEqual([formatFixed(sample.score, 4), formatFixed(sample.kl, 4)]);
  // Rows of metrics, samples and tokens belong to the same step.
  const metrics = readLog(run, 'metrics.jsonl').find(
    (row) => (row as Numbers).step === sample.step,
  ) as Numbers;
  expect(tokens.klCoef).toBeCloseTo(metrics['objective/kl_coef']!, 10);
  expect(tokens.kl!.reduce((sum, one) => sum + one)).toBeCloseTo(sample.kl!, 4);
  const heading = page.getByRole('heading', { name: /^Token \d+ of/ });
  for (let t = 0; t < sample.length!; t++) {
    await expect
      .poll(() => heading.textContent(), patience)
      .toBe(`Token ${t + 1} of ${sample.length}`);
    expect(await readFields(page)).toMatchObject(fieldsOf(tokens, t));
    expect(await page.locator('.tokens-agrees').count()).toBeGreaterThan(2);
    expect(await page.locator('.tokens-differs').allTextContents()).toEqual([]);
    await page.keyboard.press('ArrowRight');
  }
}

function sampleOf(run: string, index: number): Numbers {
  return readLog(run, 'samples.jsonl')[index] as Numbers;
}

/** The tokens of a sample: each sample of a tiny run has a line, in the same order. */
function tokensOf(
  run: string,
  index: number,
): { readonly klCoef: number } & { readonly [column: string]: readonly number[] } {
  return readLog(run, 'tokens.jsonl')[index] as never;
}

async function readFields(page: Page): Promise<Record<string, string>> {
  const pairs = await page
    .locator('.tokens-fields > div')
    .evaluateAll((rows) =>
      rows.map((row) => [
        row.querySelector('dt')!.textContent,
        row.querySelector('dd')!.firstChild!.textContent,
      ]),
    );
  return Object.fromEntries(pairs);
}

function fieldsOf(
  tokens: { readonly [column: string]: readonly number[] },
  t: number,
): Record<string, string> {
  const columns = {
    ...{ logprob: 'logprobs', refLogprob: 'refLogprobs', klDiv: 'kl', value: 'values' },
    ...{ advantage: 'advantages', rewardToGo: 'returns', reward: 'rewards' },
    ...{ entropy: 'entropies', ratio: 'ratios' },
  };
  const numbers = Object.entries(columns).map(([name, column]) => [
    name,
    formatFixed(tokens[column]![t], 4),
  ]);
  return { actionTokenId: String(tokens.ids![t]), ...Object.fromEntries(numbers) };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { visibleText } from '../../src/dashboard/client/format.ts';
import { answersPath, writeQueue } from '../../src/dashboard/labels/queue-folder.ts';
import { describeInBrowser, untilCharts } from '../helpers/browser.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { appendFakeRows, fakeSample, hostileTexts, writeFakeRun } from '../helpers/fake-run.ts';
import { runCli } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const [script, image] = hostileTexts;
/** Names of folders have no slashes. */
const runName = image;
const labeller = '<img src=x onerror=hacked=1>';

describeInBrowser('hostile texts in the browser', (browser) => {
  test('are shown as plain text on every page and in the report', async () => {
    const folder = makeTempFolder();
    const run = join(folder, 'runs', runName);
    writeFakeRun(run, {
      message: `Ended ${script}`,
      config: { [script]: image, modelName: hostileTexts[2] },
    });
    appendFakeRows(join(run, 'metrics.jsonl'), [
      { step: 11, [`rewards/${script}/mean`]: 1, [image]: 2 },
    ]);
    // Repeats the prompt of the sixth sample, so that it can be followed.
    appendFakeRows(join(run, 'samples.jsonl'), [{ ...fakeSample(5), step: 11, response: image }]);
    const labels = join(folder, 'labels');
    const queue = await writeHostileQueue(labels);
    const { url, errors } = await startTestDashboard({
      ...{ folders: [join(folder, 'runs')], page: undefined, labels },
    });
    const page = await browser.open();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(url);
    await expectOverview(page);
    await expectSamples(page);
    await expectLabels(page, queue);
    expect(asked.filter((address) => !/\/(api\/|page\.|favicon|$)/.test(address))).toEqual([]);
    expect(errors).toEqual([]);

    const report = join(folder, 'report.html');
    expect((await runCli('report', run, '--output', report)).status).toBe(0);
    const shared = await browser.open({ offline: true });
    await shared.goto(`file://${report}`);
    await expectOverview(shared);
    await expectSamples(shared);
  });
});

async function expectOverview(page: Page): Promise<void> {
  await untilCharts(page);
  const read = (selector: string) => page.locator(selector).allTextContents();
  expect(await read('.run-panel h1')).toEqual([runName]);
  expect(await page.title()).toBe(`${runName} · Proximal`);
  expect((await read('.verdict')).join()).toContain(`Ended ${script}`);
  expect((await read('.verdict')).join()).toContain(`A warning ${script}`);
  const config = (await read('.config tbody tr')).join('\n');
  expect(config).toContain(`${script}${image}`);
  // A report keeps only the last part of paths, and this text looks like one.
  expect(config).toContain('onload=');
  expect(await read('.chart-legend-label')).toContain(script);
  await page.locator('.chart-section summary', { hasText: 'More' }).click();
  await page.getByRole('heading', { name: image, level: 3 }).waitFor();
  await expectHarmless(page);
}

async function expectSamples(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Samples' }).click();
  await page.getByLabel('Search prompts and responses').fill('<script>');
  await page.getByText('2 samples', { exact: true }).waitFor();
  await page.getByLabel('Search prompts and responses').fill('');
  await page.getByText('21 samples', { exact: true }).waitFor();
  const details = page.locator('.samples-details');
  for (const [i, text] of hostileTexts.entries()) {
    // The newest step comes first and has one sample; the others have two in order.
    const position = 19 - i + 2 * (i % 2);
    await page.locator(`[aria-rowindex="${position + 2}"]`).click();
    await expect
      .poll(() => details.getByLabel('Prompt').textContent())
      .toBe(visibleText(`Prompt ${i}: ${text}`));
    expect(await details.getByLabel('Response').textContent()).toBe(visibleText(` ${text}`));
  }
  await details.getByRole('button', { name: 'Follow this prompt' }).click();
  await details.getByText('2 responses to this prompt').waitFor();
  await expectHarmless(page);
  await details.getByRole('button', { name: 'Tokens' }).click();
  await page.locator('.tokens-alternatives').first().waitFor();
  const alternatives = await page.locator('.tokens-alternative-text').allTextContents();
  expect(alternatives.map((text) => text.replaceAll('·', ' '))).toContain(script);
  expect(await page.locator('.tokens-token').first().textContent()).toBe('·<b>');
  await expectHarmless(page);
  await page.goBack();
  await page.getByRole('tab', { name: 'Evaluation' }).click();
  const reference = page.getByLabel("Reference's response").first();
  expect(await reference.textContent()).toBe(image);
  await expectHarmless(page);
}

async function expectLabels(page: Page, queue: string): Promise<void> {
  await page.getByRole('link', { name: 'Label' }).click();
  await page.getByLabel('Your name').fill(labeller);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: `Label ${script}` }).click();
  const prompts: string[] = [];
  for (const [i, text] of hostileTexts.entries()) {
    await page.getByText(`${i} of 6`, { exact: true }).waitFor();
    await page.locator('.label-task[aria-busy=false]').waitFor();
    const [prompt, ...responses] = await page.locator('.label-text').allTextContents();
    expect(responses.toSorted()).toEqual([`${prompt} 0`, `${prompt} 1`]);
    prompts.push(prompt!);
    await page.getByLabel(/^Note/).fill(text);
    await page.keyboard.press('Escape');
    await page.keyboard.press('1');
  }
  expect(prompts.toSorted()).toEqual(hostileTexts.map(visibleText).toSorted());
  await page.getByText('Thank you').waitFor();
  await page.getByRole('button', { name: 'All queues', exact: true }).click();
  await page.locator('.label-people', { hasText: labeller }).waitFor();
  await expectHarmless(page);
  const rows = readFileSync(answersPath(queue), 'utf8').trimEnd().split('\n');
  expect(rows.map((row) => JSON.parse(row).note)).toContain(script);
}

/** Six pairs; the texts of each are the same hostile text with a number. */
async function writeHostileQueue(labels: string): Promise<string> {
  const tasks = hostileTexts.map((text, i) => ({
    id: String(i + 1),
    prompt: text,
    responses: [0, 1].map((place) => ({ text: `${text} ${place}`, from: { place } })),
  }));
  const source = { from: 'file', file: image };
  const header = {
    name: script,
    kind: 'pair' as const,
    source,
    createdAt: new Date().toISOString(),
  };
  return join(labels, await writeQueue(labels, { header, tasks }));
}

/** Checks that no script ran and no element was created. */
async function expectHarmless(page: Page): Promise<void> {
  expect(await page.evaluate('typeof hacked')).toBe('undefined');
  const elements = 'main script, main img, main [onload], main [onerror], main b:not(.verdict b)';
  expect(await page.locator(elements).count()).toBe(0);
}

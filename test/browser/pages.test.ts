import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatNumber } from '../../src/dashboard/client/format.ts';
import { describeInBrowser, readLegend, untilCharts } from '../helpers/browser.ts';
import { startTestDashboard } from '../helpers/dashboard-server.ts';
import { appendFakeRows, fakeMetrics, writeFakeRun } from '../helpers/fake-run.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const patience = { timeout: 20_000, interval: 50 };

describeInBrowser('the dashboard in the browser', (browser) => {
  test('reconnects after a server restart and shows what happened meanwhile', async () => {
    const folder = makeTempFolder();
    const run = join(folder, 'a');
    writeFakeRun(run, { status: 'running', steps: 10, totalSteps: 100 });
    const options = { folders: [folder], page: undefined, labels: join(folder, 'labels') };
    const first = await startTestDashboard(options);
    const page = await browser.open({ expected: /net::ERR_/ });
    await page.goto(first.url);
    await page.evaluate('window.isFirstLoad = true');
    await untilCharts(page);
    const connection = page.locator('.connection');
    await expect.poll(() => connection.textContent(), patience).toBe('live');

    await first.close();
    await expect.poll(() => connection.textContent(), patience).toBe('reconnecting…');
    appendFakeRows(
      join(run, 'metrics.jsonl'),
      [11, 12].map((step) => fakeMetrics(step)),
    );
    await startTestDashboard({ ...options, port: first.port });
    await expect.poll(() => connection.textContent(), patience).toBe('live');
    const drawn = async () => (await readLegend(page, 'Reward'))['objective/scores'];
    const expected = (step: number) => ({
      ...{ step, value: formatNumber(fakeMetrics(step)['objective/scores']) },
    });
    await expect.poll(drawn, patience).toEqual(expected(12));
    appendFakeRows(join(run, 'metrics.jsonl'), [fakeMetrics(13)]);
    await expect.poll(drawn, patience).toEqual(expected(13));
    expect(await page.evaluate('window.isFirstLoad')).toBe(true);
  });

  test('draws two runs together and shows where their configs differ', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'a'), { steps: 10, startedAt: '2026-01-31T13:00:00.000Z' });
    writeFakeRun(join(folder, 'b'), { steps: 8, config: { learningRate: 3e-5, loraR: 4 } });
    const { url } = await startTestDashboard({
      ...{ folders: [folder], page: undefined, labels: join(folder, 'labels') },
    });
    const page = await browser.open();
    await page.goto(url);
    await untilCharts(page);
    const chart = 'KL to the reference';
    expect(Object.keys(await readLegend(page, chart))).toEqual(['objective/kl']);
    expect(await countColours(page, chart)).toEqual([true, false]);
    await page.getByLabel('Draw b').check();
    await expect
      .poll(() => readLegend(page, chart), patience)
      .toEqual({
        'a objective/kl': { step: 10, value: formatNumber(fakeMetrics(10)['objective/kl']) },
        'b objective/kl': { step: 8, value: formatNumber(fakeMetrics(8)['objective/kl']) },
      });
    await expect.poll(() => countColours(page, chart), patience).toEqual([true, true]);

    const config = page.getByRole('region', { name: 'Config' });
    const differing = () => config.locator('tr.differs').allTextContents();
    await expect
      .poll(differing, patience)
      .toEqual(['learningRate (differs)0.000010.00003', 'loraR (differs)not set4']);
    await config.getByLabel('Only differences').check();
    await expect.poll(() => config.locator('tbody tr').count(), patience).toBe(2);
    const ground = (row: string) =>
      config
        .locator(row)
        .first()
        .evaluate(
          (element) =>
            element.ownerDocument.defaultView!.getComputedStyle(
              element.querySelector('td') ?? element,
            ).backgroundColor,
        );
    const highlighted = await ground('tr.differs');
    await config.getByLabel('Only differences').uncheck();
    expect(await ground('tbody tr:not(.differs)')).not.toBe(highlighted);
  });

  test('has a URL that restores the same runs and steps', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'a'), { steps: 100, startedAt: '2026-01-31T13:00:00.000Z' });
    writeFakeRun(join(folder, 'b'), { steps: 80 });
    const { url } = await startTestDashboard({
      ...{ folders: [folder], page: undefined, labels: join(folder, 'labels') },
    });
    const page = await browser.open();
    await page.goto(url);
    await untilCharts(page);
    await page.getByLabel('Draw b').check();
    const slider = page.getByRole('slider', { name: 'Reward: step', exact: true });
    await slider.focus();
    await page.keyboard.press('+');
    const zoom = page.getByRole('button', { name: 'Reset zoom' });
    await zoom.waitFor();
    // The half of the 100 steps around the cursor, which is at the end.
    await expect.poll(() => page.url(), patience).toMatch(/#\/runs\/\w+\?with=\w+&zoom=50,100$/);

    const other = await browser.open();
    await other.goto(page.url());
    await untilCharts(other);
    await other.getByRole('button', { name: 'Reset zoom' }).waitFor();
    expect(await other.getByLabel('Draw b').isChecked()).toBe(true);
    await slider.blur();
    await expect
      .poll(() => pictureOf(other, 'Reward'), patience)
      .toBe(await pictureOf(page, 'Reward'));

    await page.getByRole('link', { name: 'Samples' }).click();
    await page.getByRole('grid', { name: 'Samples' }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await zoom.waitFor();
    await zoom.click();
    await expect.poll(() => page.url(), patience).toMatch(/\?with=\w+$/);
  });

  test('draws charts when they come into view, with the latest data', async () => {
    const folder = makeTempFolder();
    const run = join(folder, 'a');
    writeFakeRun(run, { status: 'running', steps: 10 });
    const { url } = await startTestDashboard({
      ...{ folders: [folder], page: undefined, labels: join(folder, 'labels') },
    });
    const page = await browser.open({ viewport: { width: 1280, height: 400 } });
    await page.goto(url);
    await untilCharts(page);
    const [near, far] = ['Reward', 'Speed'];
    await page.getByRole('figure', { name: near, exact: true }).scrollIntoViewIfNeeded();
    await expect.poll(() => pictureOf(page, far), patience).toBeTruthy();
    const before = { near: await pictureOf(page, near), far: await pictureOf(page, far) };
    appendFakeRows(join(run, 'metrics.jsonl'), [fakeMetrics(11), fakeMetrics(12)]);
    const lastStep = async () => Object.values(await readLegend(page, far))[0]?.step;
    await expect.poll(lastStep, patience).toBe(12);
    await expect.poll(() => pictureOf(page, near), patience).not.toBe(before.near);
    expect(await pictureOf(page, far)).toBe(before.far);
    await page.getByRole('figure', { name: far }).scrollIntoViewIfNeeded();
    await expect.poll(() => pictureOf(page, far), patience).not.toBe(before.far);
  });

  test('stacks the times of the phases', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'a'), { steps: 30 });
    const { url } = await startTestDashboard({
      ...{ folders: [folder], page: undefined, labels: join(folder, 'labels') },
    });
    const page = await browser.open();
    await page.goto(url);
    await untilCharts(page);
    const figure = page.getByRole('figure', { name: 'Time by phase' });
    await figure.scrollIntoViewIfNeeded();
    // The phases fill the area from the axis up to their sum, 2 s per step, each in its own colour.
    const fills = await figure.locator('canvas').evaluate((canvas) => {
      const { width, height } = canvas;
      const { data } = canvas.getContext('2d').getImageData(width >> 1, 0, 1, height);
      const rows = Array.from({ length: height }, (_, y) => [...data.slice(4 * y, 4 * y + 4)]);
      return new Set(rows.filter(([, , , a]) => a! > 60 && a! < 90).map(String)).size;
    });
    expect(fills).toBe(3);
  });
});

function pictureOf(page: Page, chart: string): Promise<string> {
  const figure = page.getByRole('figure', { name: chart, exact: true });
  return figure.locator('canvas').evaluate((canvas) => canvas.toDataURL());
}

/** Whether the canvas of a chart has the colours of the first and of the second run. */
function countColours(page: Page, chart: string): Promise<boolean[]> {
  const figure = page.getByRole('figure', { name: chart, exact: true });
  return figure.locator('canvas').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set<string>();
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] === 255) seen.add(`rgb(${data[i]}, ${data[i + 1]}, ${data[i + 2]})`);
    }
    const { defaultView: window, body } = canvas.ownerDocument;
    const probe = canvas.ownerDocument.createElement('span');
    body.append(probe);
    const has = ['--series-1', '--series-2'].map((name) => {
      probe.style.color = `var(${name})`;
      return seen.has(window.getComputedStyle(probe).color);
    });
    probe.remove();
    return has;
  });
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { readAdapter } from '../../src/base-setup/index.ts';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { backendOf } from '../../src/engine/runtime/index.ts';
import { loadModel, PolicyModel } from '../../src/models/index.ts';
import { makePrompts, runConfig } from '../../src/playground/run-settings.ts';
import { brevity, WebTrainer, WorkerHost } from '../../src/web/index.ts';
import { describeInBrowser, expectAccessible } from '../helpers/browser.ts';
import { buildPlayground, isolation } from '../helpers/playground-server.ts';
import { readZip } from '../helpers/read-zip.ts';
import { runCli } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

const timeout = 900_000;
const STEPS = 12;

async function start(page: Page): Promise<void> {
  await page.getByRole('status').getByText('Ready').waitFor({ timeout });
  await page.getByRole('button', { name: 'Start', exact: true }).click();
}

async function untilStep(page: Page, step: number): Promise<void> {
  const steps = (text: string | null) => Number(/(\d+) steps? done/.exec(text ?? '')?.[1] ?? 0);
  // The output of the β slider is a status, too.
  const status = page.getByText(/\d+ steps? done/).first();
  await expect
    .poll(async () => steps(await status.textContent({ timeout })), { timeout, interval: 50 })
    .toBeGreaterThanOrEqual(step);
}

/** Mean score of the samples in the table, by step. */
async function readScores(page: Page): Promise<Map<number, number[]>> {
  const rows = await page.evaluate<[string, string][]>(
    `Array.from(document.querySelectorAll('.sample-table tbody tr'), (row) =>
      Array.from(row.children, (cell) => cell.textContent))`,
  );
  const scores = new Map<number, number[]>();
  for (const [step, score] of rows) {
    const list = scores.get(Number(step)) ?? [];
    scores.set(Number(step), [...list, Number(score)]);
  }
  return scores;
}

/** Seconds of each step of the same run in this process, with one thread. */
async function timeNatively(steps: number): Promise<number[]> {
  process.env.PROXIMAL_THREADS = '1';
  const { port1, port2 } = new MessageChannel();
  port1.start();
  port2.start();
  new WorkerHost(port2 as never, { backend: backendOf('cpu') });
  const trainer = new WebTrainer(Object.assign(port1, { terminate: () => {} }) as never);
  const names = [
    'config.json',
    'generation_config.json',
    'tokenizer.json',
    'tokenizer_config.json',
  ];
  const files = [...names, 'model.safetensors'].map((name) => {
    return [name, new Uint8Array(readFileSync(join(embeddedFolder, name)))] as const;
  });
  await trainer.open({ model: Object.fromEntries(files), name: 'embedded' });
  const times: number[] = [];
  let last = performance.now();
  await trainer.train(makePrompts(), {
    ...{ config: runConfig('function', 0.05), rewards: { brevity: brevity({ target: 6 }) } },
    maxSteps: steps,
    onEvent: ({ type }) => {
      if (type !== 'step') return;
      times.push((performance.now() - last) / 1000);
      last = performance.now();
    },
  });
  port1.close();
  delete process.env.PROXIMAL_THREADS;
  return times;
}

const median = (numbers: readonly number[]) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

describeInBrowser('training in a tab', (browser) => {
  const playground = buildPlayground();

  test('learns from a cold page, and its adapter is the same policy elsewhere', {
    timeout,
  }, async () => {
    const url = await playground.serve();
    const foreign: string[] = [];
    const page = await browser.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url)) {
        foreign.push(request.url());
      }
    });
    await page.goto(url);
    const started = performance.now();
    await start(page);
    const times: number[] = [];
    let early: number[] = [];
    for (let step = 1; step <= STEPS; step++) {
      await untilStep(page, step);
      times.push((performance.now() - started) / 1000);
      if (step === 2) early = [...(await readScores(page)).values()].flat();
    }
    const late = [...(await readScores(page)).entries()].flatMap(([step, list]) => {
      return step > STEPS - 3 ? list : [];
    });
    const mean = (list: readonly number[]) => list.reduce((sum, x) => sum + x, 0) / list.length;
    expect(mean(late)).toBeGreaterThan(mean(early) + 0.1);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/Paused, \d+ steps done/).waitFor({ timeout });
    const folder = await downloadAdapter(page);
    const paused = Number(/\d+/.exec((await page.getByText(/Paused/).textContent())!)![0]);
    await page.getByRole('button', { name: 'Continue' }).click();
    await untilStep(page, paused + 1);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/Paused, \d+ steps done/).waitFor({ timeout });
    // The first responses after the pause are those of the downloaded adapter.
    await page
      .locator('.sample-table tbody tr', { hasText: new RegExp(`^${paused + 1}`) })
      .first()
      .waitFor();
    const tokens = await copyTokensOf(page, paused + 1);

    const { base, tokenizer } = await loadModel(embeddedFolder);
    const { adapter, warning } = await readAdapter(folder, base);
    expect(warning).toBe(undefined);
    const policy = new PolicyModel({ base, tokenizer, adapter });
    const ids = Int32Array.from(tokens.ids);
    const { logprobs } = await policy.logprobs([tokenizer.encode(tokens.prompt)], [ids]);
    const errors = tokens.logprobs.map((x, i) => Math.abs(x - logprobs[0]![i]!));
    expect(Math.max(...errors)).toBeLessThan(1e-4);
    const cli = await runCli(
      ...['generate', '--model', embeddedFolder, '--adapter', folder, '--prompt', tokens.prompt],
    );
    expect(cli.status, cli.stderr).toBe(0);
    expect(foreign).toEqual([]);

    const steps = times.map((time, i) => time - (times[i - 1] ?? 0));
    const native = await timeNatively(6);
    const sizes = [...(await playground.sizes())];
    const weight = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
    console.log(
      `Playground: ${(weight / 1e6).toFixed(1)} MB, first step ${times[0]!.toFixed(1)} s after Start, ` +
        `median step ${median(steps.slice(1)).toFixed(2)} s in the tab and ${median(native.slice(1)).toFixed(2)} s natively with one thread, ` +
        `${(median(steps.slice(1)) / median(native.slice(1))).toFixed(2)} ×`,
    );
  });

  test('uses threads if the page is isolated, and continues after a reload', {
    timeout,
  }, async () => {
    const page = await browser.open();
    await page.goto(await playground.serve(isolation));
    await start(page);
    await page.getByText(/WebAssembly, [234] threads/).waitFor({ timeout });
    await untilStep(page, 1);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/Paused, \d+ steps? done/).waitFor({ timeout });
    await page.waitForTimeout(1000);
    await page.reload();
    await page
      .getByText('Start continues from the adapter of your last visit.')
      .waitFor({ timeout });
  });
});

/** Unpacks the downloaded adapter into a folder. */
async function downloadAdapter(page: Page): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download adapter' }).click(),
  ]);
  const folder = join(makeTempFolder(), 'adapter');
  mkdirSync(folder);
  const archive = new Uint8Array(readFileSync(await download.path()));
  for (const [name, bytes] of readZip(archive)) writeFileSync(join(folder, name), bytes);
  return folder;
}

async function copyTokensOf(page: Page, step: number) {
  for (const button of await page.getByRole('button', { name: /tokens of sample/ }).all()) {
    const label = await button.getAttribute('aria-label');
    if (!label?.endsWith(`step ${step}`)) continue;
    await button.click();
    await page.getByRole('button', { name: 'Copy all as JSON' }).click();
    await page.getByText('✓ copied').waitFor();
    return JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()')) as {
      readonly prompt: string;
      readonly ids: readonly number[];
      readonly logprobs: readonly number[];
    };
  }
  throw new Error(`The page shows no tokens of step ${step}`);
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startDashboard } from '../../src/dashboard/server/start-dashboard.ts';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { makeSplitPost } from '../../src/embedded/world/index.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { median, round } from '../measure.ts';

const ROUNDS = 6;
/** Of each run, after one that does not count. */
const STEPS = 6;
const PROMPTS = 32 * (STEPS + 1);

interface TrainingCost {
  readonly training_cost_percent: number;
  /** Between them lies half of the steps: how much the machine's speed moves. */
  readonly training_cost_quartiles: readonly number[];
}

/** What a dashboard in the process of a training, with one open page, adds to a step, in percent.
 *  The same run is made with and without it in turns; the steps of a round are the same work, so that
 *  each gives a ratio, and their median counts. */
export async function trainingCost(browser: Browser): Promise<TrainingCost> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-bench-'));
  try {
    writeInputs(folder);
    const ratios: number[] = [];
    for (let turn = 0; turn < ROUNDS; turn++) {
      const plain = () => timeSteps(folder, `plain-${turn}`);
      const shown = () => withPage({ browser, folder }, () => timeSteps(folder, `shown-${turn}`));
      // Whoever comes second finds the machine warmer.
      const first = await (turn % 2 === 0 ? plain : shown)();
      const second = await (turn % 2 === 0 ? shown : plain)();
      const [without, with_] = turn % 2 === 0 ? [first, second] : [second, first];
      ratios.push(...with_.map((time, i) => time / without[i]!));
      console.error(
        `round ${turn + 1} of ${ROUNDS}: ${median(without).toFixed(0)} ms a step alone, ${median(with_).toFixed(0)} ms with a page`,
      );
    }
    const sorted = ratios.toSorted((a, b) => a - b);
    const percent = (ratio: number) => round(100 * (ratio - 1), 2);
    const quartiles = [1, 3].map((part) => percent(sorted[(part * sorted.length) >> 2]!));
    return {
      training_cost_percent: percent(median(ratios)),
      training_cost_quartiles: quartiles,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writeInputs(folder: string): void {
  const posts = Array.from({ length: PROMPTS }, (_, number) =>
    makeSplitPost('ppo', { seed: 0, number }),
  );
  const lines = posts.map(({ text }) => `${JSON.stringify({ prompt: text })}\n`);
  writeFileSync(join(folder, 'prompts.jsonl'), lines.join(''));
  writeFileSync(join(folder, 'reward.mjs'), 'export default (s) => s.response.length / 100;\n');
  mkdirSync(join(folder, 'runs'));
}

/** Does some work while a page shows the runs of a folder. */
async function withPage<T>(
  { browser, folder }: { browser: Browser; folder: string },
  work: () => Promise<T>,
): Promise<T> {
  const folders = [join(folder, 'runs')];
  const labels = join(folder, 'labels');
  const dashboard = await startDashboard({ folders, labels, port: 0, onError: console.error });
  const page = await browser.newPage();
  await page.goto(dashboard.url);
  try {
    return await work();
  } finally {
    await page.close();
    await dashboard.close();
  }
}

/** Milliseconds of each step of a run of the embedded model. */
async function timeSteps(folder: string, name: string): Promise<number[]> {
  const ends: number[] = [];
  await trainRun(
    {
      ...{ modelName: embeddedFolder, prompts: join(folder, 'prompts.jsonl') },
      ...{ reward: [join(folder, 'reward.mjs')], output: join(folder, 'runs', name), seed: 0 },
      ...{ maxNewTokens: 48, batchSize: 32, rolloutBatchSize: 32, ppoEpochs: 2, miniBatchSize: 16 },
      ...{ loraTargets: ['all-linear'], validationFraction: 0, saveInterval: 0 },
      ...{ numEpochs: 1, maxSteps: STEPS + 1, stopOnCollapse: false },
    },
    {
      onEvent: ({ type }) => {
        if (type === 'step') ends.push(performance.now());
      },
    },
  );
  return ends.slice(1).map((end, i) => end - ends[i]!);
}

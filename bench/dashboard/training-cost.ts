import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, CDPSession } from 'playwright-core';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { makeSplitPost } from '../../src/embedded/world/index.ts';
import { trainRun } from '../../src/run/train-run.ts';
import { median, round } from '../measure.ts';
import { medianInterval } from './median-interval.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

/** Each round is two runs: one alone and one with a page. */
const ROUNDS = 11;
/** Number of measured steps per run. */
const STEPS = 4;
/** Number of unmeasured steps, for warm-up and while the page creates its charts. */
const WARMUP = 2;

interface TrainingCost {
  /** Time that the page adds to a run's steps: the median of the rounds. */
  readonly training_cost_percent: number;
  /** 95 % confidence interval of the median. */
  readonly training_cost_interval: readonly number[];
  /** Processor time of server and browser relative to the training's. */
  readonly training_cpu_percent: number;
}

interface Setting {
  readonly browser: Browser;
  readonly folder: string;
  readonly server: ServerProcess;
}

/** Cost of a dashboard with one open page to a training, in percent. The same run is repeated
 *  alternately with and without a page, so each round has a ratio of times. A server without a page
 *  does nothing, so one server is used for all rounds. */
export async function trainingCost(browser: Browser): Promise<TrainingCost> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-bench-'));
  writeInputs(folder);
  const server = await startServerProcess(join(folder, 'runs'));
  try {
    return await compareAlternately({ browser, folder, server });
  } finally {
    server.end();
    rmSync(folder, { recursive: true });
  }
}

function writeInputs(folder: string): void {
  const posts = Array.from({ length: 32 * (STEPS + WARMUP) }, (_, number) =>
    makeSplitPost('ppo', { seed: 0, number }),
  );
  const lines = posts.map(({ text }) => `${JSON.stringify({ prompt: text })}\n`);
  writeFileSync(join(folder, 'prompts.jsonl'), lines.join(''));
  writeFileSync(join(folder, 'reward.mjs'), 'export default (s) => s.response.length / 100;\n');
  mkdirSync(join(folder, 'runs'));
}

async function compareAlternately(setting: Setting): Promise<TrainingCost> {
  const ratios: number[] = [];
  const cpu = { training: 0, server: 0, browser: 0 };
  for (let repeat = 0; repeat < ROUNDS; repeat++) {
    // Alternates the order, since the second run finds a warmer machine.
    const isAloneFirst = repeat % 2 === 0;
    const early = isAloneFirst ? await timeRun(setting) : undefined;
    const shown = await timeShownRun(setting);
    const alone = early ?? (await timeRun(setting));
    ratios.push(shown.seconds / alone.seconds);
    for (const part of ['training', 'server', 'browser'] as const) cpu[part] += shown.cpu[part];
    console.error(
      `round ${repeat + 1} of ${ROUNDS}: ${alone.seconds.toFixed(2)} s alone, ${shown.seconds.toFixed(2)} s with a page; processor time ${JSON.stringify(cpu)}`,
    );
  }
  const percent = (ratio: number) => round(100 * (ratio - 1), 2);
  return {
    training_cost_percent: percent(median(ratios)),
    training_cost_interval: medianInterval(ratios).map(percent),
    training_cpu_percent: round((100 * (cpu.server + cpu.browser)) / cpu.training, 2),
  };
}

/** Seconds of a run's steps while a page shows it, and the processor times meanwhile. */
async function timeShownRun(setting: Setting) {
  const { browser, server } = setting;
  const session = await browser.newBrowserCDPSession();
  const page = await browser.newPage();
  await page.goto(server.url);
  const look = async () => ({
    training: cpuSeconds(),
    server: await server.cpuSeconds(),
    browser: await browserSeconds(session),
  });
  type Look = Awaited<ReturnType<typeof look>>;
  const looks: Promise<Look>[] = [];
  const { seconds } = await timeRun(setting, () => looks.push(look()));
  const [first, last] = (await Promise.all(looks)) as [Look, Look];
  await page.close();
  await session.detach();
  const cpu = {
    training: last.training - first.training,
    server: last.server - first.server,
    browser: last.browser - first.browser,
  };
  return { seconds, cpu };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Processor time of all browser processes. */
async function browserSeconds(session: CDPSession): Promise<number> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** Seconds of the steps of a run of the embedded model, which is then deleted.
 *  @param onEdge called at the start and end of the measurement */
async function timeRun({ folder }: Setting, onEdge: () => void = () => {}) {
  const output = join(folder, 'runs', 'run');
  const ends: number[] = [];
  await trainRun(
    {
      ...{ modelName: embeddedFolder, prompts: join(folder, 'prompts.jsonl'), output, seed: 0 },
      ...{ reward: [join(folder, 'reward.mjs')], loraTargets: ['all-linear'], maxNewTokens: 48 },
      ...{ batchSize: 32, rolloutBatchSize: 32, ppoEpochs: 2, miniBatchSize: 16, numEpochs: 1 },
      ...{
        validationFraction: 0,
        saveInterval: 0,
        maxSteps: STEPS + WARMUP,
        stopOnCollapse: false,
      },
    },
    {
      onEvent: ({ type }) => {
        if (type !== 'step') return;
        ends.push(performance.now());
        if (ends.length === WARMUP || ends.length === STEPS + WARMUP) onEdge();
      },
    },
  );
  rmSync(output, { recursive: true });
  return { seconds: (ends.at(-1)! - ends[WARMUP - 1]!) / 1000 };
}

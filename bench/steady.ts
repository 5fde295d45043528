import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedFolder } from '../src/embedded/embedded-files.ts';
import { countSessions } from '../src/engine/runtime/index.ts';
import { trainRun } from '../src/run/train-run.ts';
import { median, round } from './measure.ts';
import { writePostInputs } from './post-inputs.ts';

const STEPS = 200;
const WARMUP = 20;
const BATCH = 8;

interface Look {
  readonly rss: number;
  readonly handles: number;
  readonly sessions: number;
}

/** Memory, handles and sessions over a long run of the embedded model. */
export async function benchSteady(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-steady-'));
  const looks: Look[] = [];
  try {
    writePostInputs(folder, STEPS * BATCH);
    await trainRun(
      {
        ...{ modelName: embeddedFolder, output: join(folder, 'run'), seed: 0 },
        ...{ prompts: join(folder, 'prompts.jsonl'), reward: [join(folder, 'reward.mjs')] },
        ...{ batchSize: BATCH, maxNewTokens: 48, ppoEpochs: 2, miniBatchSize: 4 },
        ...{ numEpochs: 1, maxSteps: STEPS, saveInterval: 20, evalInterval: 0 },
        ...{ validationFraction: 0, stopOnCollapse: false },
      },
      {
        onEvent: ({ type }) => {
          if (type === 'step') looks.push(look());
        },
      },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
  return summarize(looks);
}

function look(): Look {
  return {
    rss: process.memoryUsage.rss() / 2 ** 20,
    handles: process.getActiveResourcesInfo().length,
    sessions: countSessions(),
  };
}

function summarize(looks: readonly Look[]): object {
  const steady = looks.slice(WARMUP);
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b) / values.length;
  const rss = steady.map((one) => one.rss);
  const places = rss.map((_, i) => i - (rss.length - 1) / 2);
  const slope =
    places.reduce((sum, x, i) => sum + x * (rss[i]! - mean(rss)), 0) /
    places.reduce((sum, x) => sum + x * x, 0);
  const edge = (part: readonly Look[], key: keyof Look) => median(part.map((one) => one[key]));
  return {
    steps: looks.length,
    rss_mb_after_20: round(edge(steady.slice(0, 20), 'rss'), 1),
    rss_mb_at_end: round(edge(steady.slice(-20), 'rss'), 1),
    rss_mb_per_100_steps: round(100 * slope, 2),
    handles: [edge(steady.slice(0, 20), 'handles'), edge(steady.slice(-20), 'handles')],
    sessions: [edge(steady.slice(0, 20), 'sessions'), edge(steady.slice(-20), 'sessions')],
  };
}

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../../test/helpers/run-cli.ts';
import type { ReportData } from '../api.ts';
import { embedReport, toScriptJson } from './write-report.ts';

const attack = '</script><script>window.owned=1</script><!--<script>\u2028\u2029</ScRiPt >"\'&';
let root: string;

/** A run of 20 steps with 2 samples each; those of even steps have their tokens. */
async function makeRun(folder: string): Promise<void> {
  await mkdir(folder);
  const steps = Array.from({ length: 20 }, (_, i) => i + 1);
  const lines = (rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const sample = (step: number, at: number) => ({ step, promptIdx: at, sample: 0 });
  const files = {
    'run.json': JSON.stringify({
      startedAt: '2026-01-01T10:00:00.000Z',
      step: 20,
      status: 'failed',
      message: `Cannot read ${join(folder, 'x.txt')}`,
    }),
    'config.json': JSON.stringify({
      prompts: join(folder, 'p.jsonl'),
      systemPrompt: attack,
      seed: 0,
    }),
    'metrics.jsonl': lines(steps.map((step) => ({ step, 'objective/scores': step / 4 }))),
    'samples.jsonl': lines(
      steps.flatMap((step) =>
        [0, 1].map((at) => ({
          ...sample(step, at),
          prompt: attack,
          response: `${attack}${step}`,
          // The best is of step 7, the worst of step 5.
          ...{ score: step === 7 ? 9 : step === 5 ? -9 : 0, kl: 0, length: 1, finished: true },
        })),
      ),
    ),
    'tokens.jsonl': lines(
      steps
        .filter((step) => step % 2 === 0)
        .map((step) => ({ ...sample(step, 0), texts: [attack] })),
    ),
    'log.jsonl': lines([
      { time: '', step: 1, type: 'checkpoint', message: `Saved ${join(folder, 'checkpoints/c1')}` },
    ]),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'proximal-report-'));
  await makeRun(join(root, 'run'));
});

afterAll(() => rm(root, { recursive: true }));

describe('proximal report', () => {
  test('writes one file with the run and without its paths', async () => {
    const path = join(root, 'report.html');
    const args = [join(root, 'run'), '--output', path, '--samples', '6'];
    const { stdout, stderr, status } = await runCli('report', ...args);
    const html = await readFile(path, 'utf8');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/report\.html {2}[\d.]+ kB, 6 samples\n$/);
    expect(html).not.toContain(root);
    expect(html.match(/<script/gi)).toHaveLength(2);
    const json = /id="proximal-report">([^<]*)</.exec(html)![1]!;
    const data = JSON.parse(json) as ReportData;
    expect(data.run).toMatchObject({ name: 'run', status: 'failed', message: 'Cannot read x.txt' });
    expect(data.run.counts).toEqual({ metrics: 20, samples: 6, evaluations: 0, log: 1 });
    expect(data.config).toEqual({ prompts: 'p.jsonl', systemPrompt: attack, seed: 0 });
    expect(data.log[0]?.message).toBe('Saved c1');
    expect(data.metrics.columns['objective/scores']?.at(-1)).toBe(5);
    // The newest three; then the first, the best and the worst.
    expect(data.samples.map(({ index, step }) => [index, step])).toEqual([
      [0, 1],
      [8, 5],
      [12, 7],
      [37, 19],
      [38, 20],
      [39, 20],
    ]);
    expect(data.samples[5]).toMatchObject({ prompt: attack, response: `${attack}20` });
    expect(Object.keys(data.tokens)).toEqual(['38']);
    expect(data.tokens[38]?.texts).toEqual([attack]);
    expect(await readdir(root)).toEqual(['report.html', 'run']);
  });

  test('rejects a folder without a run and writes nothing', async () => {
    const { stderr, status } = await runCli('report', root, '--output', join(root, 'none.html'));
    expect(status).toBe(1);
    expect(stderr).toBe(
      `Cannot write a report of ${root}: it must be the folder of a run, got no run.json in it; it contains runs: run\n`,
    );
    expect(await readdir(root)).not.toContain('none.html');
  });
});

const page = { script: "const a = '<!--</script>';", style: 'a{}', icon: '<svg/>' };

function report(name: string): ReportData {
  const run = { id: 'r', name, kind: 'ppo', status: 'completed', step: 1, totalSteps: 1 } as const;
  const counts = { metrics: 0, samples: 1, evaluations: 0, log: 0 };
  const rest = { startedAt: '', eta: null, message: attack, phase: null, counts, results: {} };
  return {
    run: { ...run, ...rest, note: attack, workersAt: null },
    config: { systemPrompt: attack, [attack]: [attack] },
    metrics: { steps: [], columns: {}, rows: 0 },
    evaluations: [],
    log: [],
    samples: [],
    tokens: {},
  };
}

/** The contents of the data and script elements. */
function contents(html: string): { json: string; script: string } {
  const [, json, script] =
    /<script type="application\/json" id="proximal-report">([^<]*)<\/script>\n<script>(.*)<\/script>\n<\/body>/s.exec(
      html,
    )!;
  return { json: json!, script: script! };
}

describe('embedReport()', () => {
  test('no text of the run ends the data element', () => {
    const data = report(attack);
    const html = embedReport(data, page);
    const { json } = contents(html);
    expect(JSON.parse(json)).toEqual(data);
    expect(json).not.toMatch(/[<\u2028\u2029]/);
    // Only those of the data and of the page.
    expect(html.match(/<script/gi)).toHaveLength(2);
    expect(html.match(/<\/script/gi)).toHaveLength(2);
    expect(html).not.toContain('<!--');
    expect(html).toContain('<title>&#60;/script&#62;&#60;script&#62;');
  });

  test('the script matches the hash in the policy and is unchanged in meaning', async () => {
    const html = embedReport(report('a'), page);
    const { script } = contents(html);
    const bytes = await crypto.subtle.digest('SHA-256', Buffer.from(script));
    const hash = Buffer.from(bytes).toString('base64');
    expect(html).toContain(`default-src 'none'; script-src 'sha256-${hash}'; style-src 'sha256-`);
    expect(new Function(`${script} return a;`)()).toBe('<!--</script>');
  });

  test('any JSON can be read back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = toScriptJson(value);
        expect(json).not.toContain('<');
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(toScriptJson('</script>\u2028')).toBe('"\\u003c/script>\\u2028"');
  });
});

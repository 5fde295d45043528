import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runInProcess } from '../../test/helpers/run-cli.ts';
import {
  compareRuns,
  expectRun,
  formatComparison,
  formatRuns,
  formatStart,
  readRunRows,
} from './runs.ts';

const output = { write: () => true };
const hostile = 'evil\x1b]0;owned\x07\x1b[2J';
let root: string;

async function makeRun(name: string, files: Readonly<Record<string, string>>): Promise<void> {
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
}

function state(more: object): string {
  return JSON.stringify({ version: '0.1.0', pid: 1, step: 2, status: 'completed', ...more });
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'proximal-runs-'));
  await makeRun('a', {
    'run.json': state({ startedAt: '2026-01-01T10:00:00.000Z', totalSteps: 2 }),
    'config.json': JSON.stringify({ prompts: 'p', learningRate: 0.00001, output: 'a', seed: 0 }),
    'metrics.jsonl':
      '{"step":1,"objective/scores":0}\n{"step":2,"objective/scores":1.5,"objective/kl":0.25,"lr":0.00001}\n{"step":3,"obj',
    'log.jsonl': '{"time":"2026-01-01T10:01:15.000Z","step":2,"type":"end","message":"done"}\n',
    'evaluations.jsonl': '{"step":2,"performance":{"reward":1,"kl":null},"samples":[]}\n',
  });
  await makeRun('deep/b', {
    'run.json': state({ startedAt: '2026-01-02T10:00:00.000Z', status: 'running' }),
    'config.json': JSON.stringify({
      fullParameters: false,
      learningRate: 0.0001,
      output: 'b',
      seed: 0,
    }),
    'metrics.jsonl': '{"step":2,"train/loss":0.5,"lr":0.0001}\n',
    'evaluations.jsonl': '{"step":2,"reward":3}\n',
  });
  await makeRun(hostile, {
    'run.json': state({ startedAt: '2025-01-01T10:00:00.000Z', step: 0 }),
    'config.json': JSON.stringify({ data: hostile, chosenColumn: 'c' }),
  });
  const end = new Date('2025-01-01T09:00:00.000Z');
  await utimes(join(root, hostile, 'run.json'), end, end);
});

afterAll(() => rm(root, { recursive: true }));

describe('proximal runs', () => {
  test('reads runs, newest first, with the last complete line of their metrics', async () => {
    const rows = await readRunRows([root]);
    expect(rows.map(({ name, kind, status }) => [name, kind, status])).toEqual([
      ['deep/b', 'sft', 'killed'],
      ['a', 'ppo', 'completed'],
      [hostile, 'reward', 'completed'],
    ]);
    const [b, a] = rows;
    expect(a).toMatchObject({
      step: 2,
      totalSteps: 2,
      reward: 1.5,
      kl: 0.25,
      loss: null,
      seconds: 75,
    });
    expect(b).toMatchObject({ totalSteps: null, reward: null, kl: null, loss: 0.5 });
  });

  test('shows no time if the clock was set back', async () => {
    expect((await readRunRows([join(root, hostile)]))[0]?.seconds).toBeNull();
  });

  test('shows a table without control characters', async () => {
    const text = formatRuns(await readRunRows([root]), output);
    const start = formatStart('2026-01-01T10:00:00.000Z');
    expect(text).not.toContain('\x1b');
    expect(text).toContain('evil]0;owned[2J');
    expect(text.split('\n')[2]).toMatch(
      new RegExp(`^  a +ppo +completed +2/2 +1\\.500 +– +0\\.250  ${start}  1 min 15 s$`),
    );
  });

  test('leaves out a run with an unusable file and lists the others', async () => {
    await makeRun('unusable', { 'run.json': state({ startedAt: '2026-01-03T10:00:00.000Z' }) });
    onTestFinished(() => rm(join(root, 'unusable'), { recursive: true }));
    await symlink('/dev/zero', join(root, 'unusable/metrics.jsonl'));
    const { status, stdout, stderr } = await runInProcess('runs', root, '--json');
    expect(status).toBe(0);
    const rows = JSON.parse(stdout) as { name: string }[];
    expect(rows.map(({ name }) => name)).toEqual(['deep/b', 'a', hostile]);
    expect(stderr).toMatch(
      /^Warning: The run in \S+unusable is left out \(Cannot read \S+metrics\.jsonl: it must be a regular file, got a device; move it away\)\n$/,
    );
  });

  test('compares last numbers and settings in the given order', async () => {
    const comparison = await compareRuns([join(root, 'a'), join(root, 'deep/b')]);
    expect(comparison.runs.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(comparison.metrics).toContainEqual({ name: 'lr', values: [0.00001, 0.0001] });
    expect(comparison.metrics).toContainEqual({ name: 'train/loss', values: [null, 0.5] });
    expect(comparison.evaluation).toEqual([
      { name: 'step', values: [2, 2] },
      { name: 'reward', values: [1, 3] },
    ]);
    expect(comparison.config).toEqual([
      { key: 'prompts', values: ['p', undefined] },
      { key: 'learningRate', values: ['0.00001', '0.0001'] },
      { key: 'fullParameters', values: [undefined, 'false'] },
    ]);
    const lines = formatComparison(comparison, output).split('\n');
    expect(lines.find((line) => line.startsWith('  lr '))).toMatch(
      / 0\.00001 +0\.0001 +\+0\.00009$/,
    );
    expect(lines.find((line) => line.startsWith('  reward'))).toMatch(/ 1 +3 +\+2$/);
  });

  test('expectRun() names the runs in a folder that is not a run', async () => {
    await expect(expectRun(join(root, 'deep'), 'compare')).rejects.toThrow(
      `Cannot compare ${join(root, 'deep')}: it must be the folder of a run, got no run.json in it; it contains runs: b`,
    );
  });

  test('the command prints JSON', async () => {
    const { stdout, status } = await runInProcess('runs', root, '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout).map((row: { name: string }) => row.name)).toEqual([
      'deep/b',
      'a',
      hostile,
    ]);
  });
});

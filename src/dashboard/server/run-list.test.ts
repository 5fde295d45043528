import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ask,
  askJson,
  startTestDashboard,
  startWithRun,
} from '../../../test/helpers/dashboard-server.ts';
import { appendFakeRows, fakeMetrics, writeFakeRun } from '../../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import type { MetricColumns, RunSummary, SamplePage } from '../api.ts';

describe('the list of runs', () => {
  test('contains runs up to two levels deep, the newest first, with unique names and ids', async () => {
    const [first, second] = [makeTempFolder(), makeTempFolder()];
    writeFakeRun(join(first, 'a'), { startedAt: '2026-01-01T00:00:00.000Z' });
    writeFakeRun(join(first, 'demo/ppo'), { startedAt: '2026-01-03T00:00:00.000Z' });
    writeFakeRun(join(first, 'x/y/too-deep'));
    writeFakeRun(join(first, 'demo/reward-model'), {
      kind: 'reward',
      startedAt: '2026-01-02T00:00:00.000Z',
    });
    writeFakeRun(join(second, 'a'), { kind: 'sft', startedAt: '2026-01-04T00:00:00.000Z' });
    const folders = [first, second, join(first, 'demo/ppo'), join(first, 'none')];
    const dashboard = await startTestDashboard({ folders });
    const runs = await askJson<RunSummary[]>(dashboard, '/api/runs');
    expect(runs.map(({ name, kind }) => [name, kind])).toEqual([
      ['a (2)', 'sft'],
      ['demo/ppo', 'ppo'],
      ['demo/reward-model', 'reward'],
      ['a', 'ppo'],
    ]);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(4);
    for (const { id } of runs) expect(id).toMatch(/^[\da-f]{16}$/);
  });

  test('shows the progress and remaining time of a run', async () => {
    const { summary } = await startWithRun({ status: 'running', steps: 10, totalSteps: 40 });
    expect(summary).toEqual({
      id: summary.id,
      name: 'a',
      kind: 'ppo',
      status: 'running',
      step: 10,
      totalSteps: 40,
      startedAt: '2026-01-31T12:00:00.000Z',
      // 30 steps of 1 + 0.25 + 0.75 seconds.
      eta: 60,
      message: null,
      phase: null,
      counts: { metrics: 10, samples: 20, evaluations: 2, log: 3 },
      results: {
        'objective/scores': fakeMetrics(10)['objective/scores'],
        'objective/kl': fakeMetrics(10)['objective/kl'],
        ...{ 'eval/reward': 0.01, 'eval/reward_std': 0.5, 'eval/greedy_reward': 0.01 },
        ...{ 'eval/best_of_n': 1.01, 'eval/win_rate': 0.75, 'eval/kl': 0.25, 'eval/entropy': 1.5 },
        ...{ 'eval/length': 24, 'eval/repetition': 0.1, 'eval/explained_variance': 0.5 },
      },
      note: '',
      workersAt: null,
    });
  });

  test('shows the latest results of a run that continues', async () => {
    const { run, ...dashboard } = await startWithRun({ status: 'running', steps: 10 });
    appendFakeRows(join(run, 'metrics.jsonl'), [{ step: 11, 'objective/scores': 7 }]);
    appendFakeRows(join(run, 'evaluations.jsonl'), [{ step: 11, 'eval/loss': 3 }]);
    const [later] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    expect(later!.results).toEqual({ 'objective/scores': 7, 'eval/loss': 3 });
  });

  test('jumps of the system clock do not change the remaining time', async () => {
    const startedAt = '2999-01-01T00:00:00.000Z';
    const { summary, run, ...dashboard } = await startWithRun({
      status: 'running',
      totalSteps: 20,
      startedAt,
    });
    expect(summary.eta).toBe(20);
    appendFileSync(join(run, 'metrics.jsonl'), '{"step":11,"timing/generate":-86400}\n');
    const [later] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    expect(later!.eta).toBe(20);
  });

  test('a run whose process is gone was killed; the state of a run on another machine is trusted', async () => {
    const { run, ...dashboard } = await startWithRun({ status: 'running', totalSteps: 20 });
    const hold = async (lock: object) => {
      writeFileSync(join(run, 'run.lock'), JSON.stringify({ id: 'a', ...lock }));
      return (await askJson<RunSummary[]>(dashboard, '/api/runs'))[0]!;
    };
    expect(await hold({ pid: 2 ** 30, host: hostname() })).toMatchObject({
      status: 'killed',
      eta: null,
      message: 'The process ended without giving a reason; continue the run with --resume',
    });
    expect(await hold({ pid: 2 ** 30, host: 'elsewhere' })).toMatchObject({ status: 'running' });
  });

  test('a run of an older format opens with the data it has', async () => {
    const folder = makeTempFolder();
    writeFileSync(join(folder, 'run.json'), '{"status":"going","step":"3"}');
    writeFileSync(join(folder, 'metrics.jsonl'), '{"step":1,"loss":2}\nnot a row\n');
    writeFileSync(join(folder, 'samples.jsonl'), '{"step":1,"response":"Hi"}\n');
    const dashboard = await startTestDashboard({ folders: [folder] });
    const [run] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    expect(run).toMatchObject({ status: 'killed', step: 0, totalSteps: null, eta: null });
    const at = `/api/runs/${run!.id}`;
    expect(await askJson(dashboard, `${at}/config`)).toEqual({});
    expect(await askJson(dashboard, `${at}/metrics`)).toEqual({
      steps: [1],
      columns: { loss: [2] },
      rows: 1,
    });
    const { rows } = await askJson<SamplePage>(dashboard, `${at}/samples`);
    expect(rows).toMatchObject([{ response: 'Hi', prompt: '', score: null, hasTokens: false }]);
    expect(await askJson(dashboard, `${at}/log`)).toEqual([]);
    expect(await askJson(dashboard, `${at}/evaluations`)).toEqual([]);
  });

  test('new runs appear and deleted ones disappear, even while being read', async () => {
    const { folder, run, at, ...dashboard } = await startWithRun();
    expect((await askJson<MetricColumns>(dashboard, `${at}/metrics`)).rows).toBe(10);
    writeFakeRun(join(folder, 'b'));
    const runs = await askJson<RunSummary[]>(dashboard, '/api/runs');
    expect(runs.map(({ name }) => name)).toEqual(['a', 'b']);
    rmSync(run, { recursive: true });
    for (const path of ['metrics', 'samples', 'log']) {
      const { status } = await ask(dashboard, `${at}/${path}`);
      expect([200, 404]).toContain(status);
    }
    expect(await askJson<RunSummary[]>(dashboard, '/api/runs')).toHaveLength(1);
    expect(await ask(dashboard, `${at}/metrics`)).toMatchObject({
      status: 404,
      body: '{"error":"There is no such run; it may have been deleted"}',
    });
    expect(dashboard.errors).toEqual([]);
  });
});

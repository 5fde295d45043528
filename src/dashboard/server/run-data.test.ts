import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ask,
  askJson,
  post,
  startTestDashboard,
  startWithRun,
} from '../../../test/helpers/dashboard-server.ts';
import {
  fakeMetrics,
  fakeSample,
  fakeTokens,
  hostileTexts,
  writeFakeRun,
} from '../../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import type { EvaluationRow, LogRow, MetricColumns, RunSummary, SamplePage } from '../api.ts';

describe('the data of a run', () => {
  test('matches the files', async () => {
    const { at, ...dashboard } = await startWithRun({ config: { klCoef: 0.25 } });
    const metrics = await askJson<MetricColumns>(dashboard, `${at}/metrics`);
    expect(metrics.steps).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const [name, value] of Object.entries(fakeMetrics(7))) {
      if (name !== 'step') expect(metrics.columns[name]![6], name).toBe(value);
    }
    expect(await askJson(dashboard, `${at}/config`)).toMatchObject({ klCoef: 0.25, seed: 0 });
    const evaluations = await askJson<EvaluationRow[]>(dashboard, `${at}/evaluations`);
    expect(evaluations.map(({ step }) => step)).toEqual([0, 10]);
    const log = await askJson<LogRow[]>(dashboard, `${at}/log`);
    expect(log[1]).toMatchObject({ type: 'warning', message: `A warning ${hostileTexts[0]}` });
  });

  test('metrics are thinned to the requested number of points', async () => {
    const { at, ...dashboard } = await startWithRun({ steps: 2000, samples: 0 });
    const all = await askJson<MetricColumns>(dashboard, `${at}/metrics?points=5000`);
    const some = await askJson<MetricColumns>(dashboard, `${at}/metrics?points=101&from=501`);
    expect([all.steps.length, some.steps.length, some.rows]).toEqual([2000, 101, 2000]);
    const scores = all.columns['objective/scores']!.slice(500) as number[];
    const thinned = some.columns['objective/scores']! as number[];
    expect(Math.max(...thinned)).toBe(Math.max(...scores));
    expect(Math.min(...thinned)).toBe(Math.min(...scores));
    expect(some.steps[0]).toBe(501);
    expect((await askJson<MetricColumns>(dashboard, `${at}/metrics`)).steps).toHaveLength(1499);
  });

  test('samples are searched, sorted and paged, with unchanged texts', async () => {
    const { at, ...dashboard } = await startWithRun({ steps: 50, tokens: 10 });
    const find = (query: string) => askJson<SamplePage>(dashboard, `${at}/samples?${query}`);
    const first = await find('limit=6');
    expect(first.total).toBe(100);
    expect(first.rows).toEqual(
      [0, 1, 2, 3, 4, 5].map((index) => ({
        index,
        ...fakeSample(index),
        turns: null,
        hasTokens: true,
      })),
    );
    const cats = await find('search=the%20CAT&limit=500');
    expect(cats.total).toBe(70);
    expect(cats.rows[0]!.prompt).toContain('the Cat');
    const last = await find('offset=98&limit=6');
    expect(last.rows.map(({ index, hasTokens }) => [index, hasTokens])).toEqual([
      [98, false],
      [99, false],
    ]);
    const best = await find('sort=score&order=desc&limit=100');
    const scores = best.rows.map(({ score }) => score!);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    const one = await find('promptIdx=3&fromStep=20&toStep=40');
    expect(one.rows.map(({ index }) => index)).toEqual([43, 63]);
    expect((await find('minScore=-0.5&maxScore=0.5')).total).toBeLessThan(100);
  });

  test('tokens are found by the index of their sample', async () => {
    const { at, ...dashboard } = await startWithRun({ tokens: 3 });
    expect(await askJson(dashboard, `${at}/samples/2/tokens`)).toEqual(fakeTokens(2));
    expect(await ask(dashboard, `${at}/samples/3/tokens`)).toMatchObject({
      status: 404,
      body: '{"error":"The run did not record the tokens of sample 3"}',
    });
    expect((await ask(dashboard, `${at}/samples/99/tokens`)).status).toBe(404);
  });
});

describe('control', () => {
  test('commands reach an active run but not an ended one', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'a'), { status: 'running' });
    writeFakeRun(join(folder, 'b'));
    mkdirSync(join(folder, 'empty'));
    const told: string[][] = [];
    const control = async (...request: string[]) => void told.push(request);
    const dashboard = await startTestDashboard({ folders: [folder], control });
    const runs = await askJson<RunSummary[]>(dashboard, '/api/runs');
    const [a, b] = ['a', 'b'].map((name) => runs.find((run) => run.name === name)!);
    const answer = await post(dashboard, `/api/runs/${a!.id}/control`, { command: 'pause' });
    expect(answer).toMatchObject({ status: 204, body: '' });
    expect(told).toEqual([[join(folder, 'a'), 'pause']]);
    expect(await post(dashboard, `/api/runs/${b!.id}/control`, { command: 'stop' })).toMatchObject({
      status: 409,
      body: '{"error":"Cannot stop this run: it must be active, got completed"}',
    });
    const wrong = await post(dashboard, `/api/runs/${a!.id}/control`, { command: 'rm -rf' });
    expect(wrong.status).toBe(400);
    expect(told).toHaveLength(1);
  });
});

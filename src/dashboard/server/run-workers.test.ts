import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, askJson, startWithRun } from '../../../test/helpers/dashboard-server.ts';
import { fakeWorkers } from '../../../test/helpers/fake-workers.ts';
import type { RunSummary, WorkersState } from '../api.ts';

const asJson = (state: WorkersState) => JSON.parse(JSON.stringify(state)) as unknown;

describe("a run's workers", () => {
  test('are served as the run wrote them, and the list of runs says when', async () => {
    const { run, at, summary, ...dashboard } = await startWithRun({ workers: fakeWorkers() });
    expect(summary.workersAt).toBe('2026-01-31T12:01:30.000Z');
    expect(await askJson(dashboard, `${at}/workers`)).toEqual(asJson(fakeWorkers()));
    const later = fakeWorkers({ updatedAt: '2026-01-31T12:01:33.000Z', workers: [] });
    writeFileSync(join(run, 'workers.json'), JSON.stringify(later));
    expect(await askJson(dashboard, `${at}/workers`)).toEqual(asJson(later));
    const [listed] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    expect(listed!.workersAt).toBe('2026-01-31T12:01:33.000Z');
  });

  test('are null without a file, and with one that is not valid', async () => {
    const { run, at, ...dashboard } = await startWithRun({ workers: fakeWorkers() });
    for (const text of ['{"updatedAt": "2026', '{}', '{"updatedAt": 3}', undefined]) {
      if (text === undefined) rmSync(join(run, 'workers.json'));
      else writeFileSync(join(run, 'workers.json'), text);
      expect(await askJson(dashboard, `${at}/workers`)).toBeNull();
      const [listed] = await askJson<RunSummary[]>(dashboard, '/api/runs');
      expect(listed!.workersAt).toBeNull();
    }
    expect(dashboard.errors).toEqual([]);
  });

  test('of a run that does not exist are an error', async () => {
    const { folder: _, ...dashboard } = await startWithRun();
    expect((await ask(dashboard, '/api/runs/none/workers')).status).toBe(404);
  });
});

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { askJson, post, startTestDashboard } from '../../../test/helpers/dashboard-server.ts';
import { writeFakeRun } from '../../../test/helpers/fake-run.ts';
import { makeLabelQueue } from '../../../test/helpers/label-queue.ts';
import { fillDisk, mountDisk } from '../../../test/helpers/mount-disk.ts';
import { runInProcess } from '../../../test/helpers/run-cli.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { pairRows, writeRows } from '../../../test/helpers/stage-setup.ts';
import type { LabelQueue, RunSummary } from '../api.ts';
import { LabelStore } from './label-store.ts';

const tie = { task: '1', labeller: 'Ada', answer: { kind: 'pair', choice: 'tie' } } as const;

/** A disk with a queue of pairs and a run. */
async function makeDisk(context: TestContext) {
  const folder = makeTempFolder();
  const disk = join(folder, 'disk');
  if (!mountDisk(disk, '1m')) context.skip('mounting a disk needs root on Linux');
  const labels = join(disk, 'labels');
  const queue = basename(await makeLabelQueue('pair', 3, labels));
  mkdirSync(join(disk, 'runs'));
  writeFakeRun(join(disk, 'runs/a'));
  return { folder, disk, labels, queue };
}

describe('a full disk', () => {
  test('is the reason that a labeller sees, and the label is saved once there is space', async (context) => {
    const { disk, labels, queue } = await makeDisk(context);
    const dashboard = await startTestDashboard({ folders: [join(disk, 'runs')], labels });
    const path = `/api/labels/${queue}`;
    const free = fillDisk(disk);
    const { status, body } = await post(dashboard, `${path}/answers`, tie);
    expect([status, JSON.parse(body)]).toEqual([
      507,
      { error: 'Cannot save the label: the disk is full; free space and try again' },
    ]);
    expect(dashboard.errors).toMatchObject([
      { message: expect.stringContaining('(ENOSPC: no space left on device, write)') },
    ]);
    free();
    expect((await post(dashboard, `${path}/answers`, tie)).status).toBe(200);
    const [progress] = await askJson<LabelQueue[]>(dashboard, '/api/labels');
    expect(progress).toMatchObject({ id: queue, answered: 1 });
  });

  test('is the reason why a queue is not created and a note is not saved', async (context) => {
    const { folder, disk, labels } = await makeDisk(context);
    const folders = [join(disk, 'runs'), folder];
    const dashboard = await startTestDashboard({ folders, labels });
    const [run] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    const file = writeRows(folder, 'rows.jsonl', pairRows());
    const before = readdirSync(labels);
    fillDisk(disk);
    const queue = { name: 'x', kind: 'pair', source: { from: 'file', file } };
    const created = await post(dashboard, '/api/labels', queue);
    expect([created.status, JSON.parse(created.body).error]).toEqual([
      507,
      'Cannot save the queue: the disk is full; free space and create it again',
    ]);
    expect(readdirSync(labels)).toEqual(before);
    const noted = await post(dashboard, `/api/runs/${run!.id}/note`, { note: 'a' });
    expect([noted.status, JSON.parse(noted.body).error]).toEqual([
      507,
      'Cannot save the note: the disk is full; free space and try again',
    ]);
  });

  test('leaves no incomplete file of an export', async (context) => {
    const { disk, labels, queue } = await makeDisk(context);
    await new LabelStore({ folder: labels }).answer(queue, tie);
    const output = join(disk, 'rows.jsonl');
    const flags = ['labels', 'export', queue, '--labels', labels, '--output', output];
    const free = fillDisk(disk);
    expect(await runInProcess(...flags)).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: `Cannot write ${output}: the disk is full (ENOSPC: no space left on device, write); free space and export again\n`,
    });
    expect(existsSync(output)).toBe(false);
    free();
    expect((await runInProcess(...flags)).status).toBe(0);
  });
});

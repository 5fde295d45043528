import { spawnSync } from 'node:child_process';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, askJson, startTestDashboard } from '../../../test/helpers/dashboard-server.ts';
import { writeFakeRun } from '../../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import type { RunSummary } from '../api.ts';

const pipe = (path: string) => spawnSync('mkfifo', [path]);
const gotPipe = 'it must be a regular file, got a named pipe; move it away';

/** A dashboard of two runs. One file of the first is something else. */
async function startWith(name: string, make: (path: string) => void) {
  const folder = makeTempFolder();
  for (const run of ['odd', 'usual']) writeFakeRun(join(folder, run), { steps: 3 });
  writeFileSync(join(folder, 'secret.json'), '{"step":1,"note":"secret"}\n');
  rmSync(join(folder, 'odd', name), { force: true });
  make(join(folder, 'odd', name));
  const dashboard = await startTestDashboard({ folders: [folder] });
  const runs = await askJson<RunSummary[]>(dashboard, '/api/runs');
  const [odd, usual] = runs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect([runs.length, odd!.name, usual!.name]).toEqual([2, 'odd', 'usual']);
  return { ...dashboard, odd: odd!, usual: usual! };
}

describe.skipIf(process.platform === 'win32')('a run with a file that must not be read', () => {
  test.each([
    ['metrics.jsonl', 'metrics', pipe, gotPipe],
    ['samples.jsonl', 'samples', pipe, gotPipe],
    [
      'evaluations.jsonl',
      'evaluations',
      (path: string) => symlinkSync('/dev/zero', path),
      'it must be a regular file, got a device; move it away',
    ],
    [
      'config.json',
      'config',
      (path: string) => symlinkSync('../secret.json', path),
      'it must be in its folder, got a link to a file elsewhere; replace the link with a copy of the file',
    ],
  ])('is listed and says so: %s', async (name, route, make, problem) => {
    const { odd, usual, ...dashboard } = await startWith(name, make);
    expect(odd.message).toBe(`Cannot read ${name}: ${problem}`);
    expect(usual).toMatchObject({ message: null, counts: { metrics: 3 } });
    const { status, body } = await ask(dashboard, `/api/runs/${odd.id}/${route}`);
    expect([status, JSON.parse(body)]).toEqual([409, { error: odd.message }]);
  });

  test.each(['run.json', 'note.json', 'workers.json'])('%s', async (name) => {
    const { odd } = await startWith(name, pipe);
    expect(odd.message).toBe(`Cannot read ${name}: ${gotPipe}`);
  });
});

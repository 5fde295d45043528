import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFakeRun } from '../../test/helpers/fake-run.ts';
import { runInProcess } from '../../test/helpers/run-cli.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { startServing } from '../../test/helpers/serving-command.ts';
import { makeTrainFolder } from '../../test/helpers/train-setup.ts';
import type { RunSummary } from '../dashboard/api.ts';
import { printAddress } from './dashboard.ts';

describe('proximal dashboard', () => {
  test('serves the page and the runs until Ctrl-C', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'a'));
    const labels = join(folder, 'labels');
    const args = ['dashboard', folder, '--port', '0', '--labels', labels];
    const { child, end, url } = await startServing('stdout', ...args);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const page = await fetch(url);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toMatch(/^<!doctype html>/i);
    const runs = (await (await fetch(`${url}api/runs`)).json()) as RunSummary[];
    expect(runs.map(({ name }) => name)).toEqual(['a']);
    expect(await (await fetch(`${url}api/labels`)).json()).toEqual([]);
    child.kill('SIGINT');
    expect((await end).status).toBe(0);
  });

  test.each<[string[], string, number]>([
    [['nowhere'], 'Cannot show nowhere: it must be a folder with runs, got no such folder\n', 1],
    [
      ['--port', '70000'],
      'Cannot use --port: got "70000", it must be a whole number from 0 to 65535.\n',
      2,
    ],
    [
      ['--token', 'short'],
      'Cannot use the token: it must have at least 8 characters, got 5; leave it out to generate one\n',
      1,
    ],
  ])('%j fails with one line', async (args, stderr, status) => {
    expect(await runInProcess('dashboard', ...args)).toEqual({ status, stdout: '', stderr });
  });

  test('proximal train --dashboard shows the run from its first step to its end', async () => {
    const folder = await makeTrainFolder();
    const config = join(folder, 'train.yaml');
    // Long enough for several polls, one per second.
    const run = ['--config', config, '--output', join(folder, 'run'), '--num-epochs', '12'];
    const { end, url } = await startServing('stderr', 'train', ...run, '--dashboard', '0');
    const stream = await fetch(`${url}api/events`);
    const text = await stream.text();
    expect((await end).status).toBe(0);
    expect(text).toContain('"type":"metrics"');
    const lists = text.match(/^data: {"type":"runs".*$/gm)!;
    const { runs } = JSON.parse(lists.at(-1)!.slice(6)) as { runs: RunSummary[] };
    expect(runs).toMatchObject([{ name: 'run', kind: 'ppo', status: 'completed', step: 36 }]);
    await expect(fetch(url)).rejects.toThrow();
  });

  test('explains why it is not on the default port', async () => {
    const lines: string[] = [];
    const output = { write: (line: string) => lines.push(line) > 0 };
    const dashboard = { url: 'http://127.0.0.1:6061/', port: 6061, close: async () => {} };
    printAddress(dashboard, { port: undefined, output });
    printAddress(dashboard, { port: 6061, output });
    expect(lines).toEqual([
      'Dashboard: http://127.0.0.1:6061/ (port 6060 is in use)\n',
      'Dashboard: http://127.0.0.1:6061/\n',
    ]);
  });
});

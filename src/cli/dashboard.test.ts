import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
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
      ['--token-file', 'nowhere'],
      'Cannot open nowhere: it must exist, got no such file or folder; check the path\n',
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

  test.each(['file', 'environment'])(
    'proximal train --dashboard requires a token from the %s',
    async (place) => {
      const folder = await makeTrainFolder();
      const token = 'known to few people';
      const file = join(folder, 'token');
      writeFileSync(file, `${token}\n`, { mode: 0o600 });
      if (place === 'environment') vi.stubEnv('PROXIMAL_DASHBOARD_TOKEN', token);
      onTestFinished(() => void vi.unstubAllEnvs());
      const flags = place === 'file' ? ['--token-file', file] : [];
      const run = ['--config', join(folder, 'train.yaml'), '--output', join(folder, 'run')];
      const long = ['--num-epochs', '1000', '--save-interval', '0', '--validation-fraction', '0'];
      const args = ['train', ...run, ...long, '--dashboard', '0', ...flags];
      const { child, end, url } = await startServing('stderr', ...args);
      const { origin } = new URL(url);
      expect(url).toBe(`${origin}/`);
      expect((await fetch(`${origin}/api/runs`)).status).toBe(401);
      expect((await fetch(`${origin}/api/runs?token=guessed-token`)).status).toBe(401);
      const query = new URLSearchParams({ token });
      expect((await fetch(`${origin}/api/runs?${query}`)).status).toBe(200);
      expect(child.spawnargs.join(' ')).not.toContain(token);
      child.kill('SIGINT');
      const { status, stdout, stderr } = await end;
      expect(status).toBe(130);
      expect(stderr).toContain(`Dashboard: ${origin}/ (add ?token= and your token)\n`);
      for (const text of [stdout, stderr]) expect(text).not.toMatch(/known.to.few|known%20to/);
    },
  );

  test('explains why it is not on the default port', async () => {
    const lines: string[] = [];
    const output = { write: (line: string) => lines.push(line) > 0 };
    const dashboard = {
      ...{ url: 'http://127.0.0.1:6061/', port: 6061, needsToken: false },
      close: async () => {},
    };
    printAddress(dashboard, { port: undefined, output });
    printAddress(dashboard, { port: 6061, output });
    printAddress({ ...dashboard, needsToken: true }, { port: undefined, output });
    expect(lines).toEqual([
      'Dashboard: http://127.0.0.1:6061/ (port 6060 is in use)\n',
      'Dashboard: http://127.0.0.1:6061/\n',
      'Dashboard: http://127.0.0.1:6061/ (port 6060 is in use; add ?token= and your token)\n',
    ]);
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endOf, runCli, startCli } from '../helpers/run-cli.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';

test('proximal demo --resume needs the folder of a demo and keeps its settings', async () => {
  const output = makeTempFolder();
  expect((await runCli('demo', '--resume', output)).stderr).toContain('must contain demo.json');
  const { status, stdout } = await runCli('demo', '--resume', output, '--seed', '1');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
});

test('proximal demo continues without readers of its output', { timeout: 240_000 }, async () => {
  const output = join(makeTempFolder(), 'demo');
  const child = startCli('demo', '--short', '--output', output);
  child.stdin.end();
  const ended = endOf(child);
  child.stderr.once('data', () => {
    child.stdout.destroy();
    child.stderr.destroy();
  });
  expect((await ended).status).toBe(0);
  expect(existsSync(join(output, 'ppo', 'model', 'adapter_model.safetensors'))).toBe(true);
});

test('proximal demo --dashboard prints the address first, serves after the end, and Ctrl-C prints how to resume', {
  timeout: 240_000,
}, async () => {
  const output = join(makeTempFolder(), 'demo');
  const child = startCli('demo', '--short', '--output', output, '--dashboard', '0');
  child.stdin.end();
  child.stderr.on('data', (text) => {
    if (String(text).includes('2  Train the model')) child.kill('SIGINT');
  });
  const stopped = await endOf(child);
  expect(stopped.status).toBe(130);
  expect(stopped.stderr).toMatch(/^Dashboard: http:/);
  expect(stopped.stdout).toContain('The demo was interrupted and can be resumed:\n');
  expect(stopped.stdout).toContain(`proximal demo --resume ${output} --dashboard\n`);

  const resumed = startCli('demo', '--resume', output, '--dashboard', '0');
  resumed.stdin.end();
  let shown = '';
  let page: Promise<string> | undefined;
  resumed.stderr.on('data', (text) => {
    shown += String(text);
    if (page !== undefined || !shown.includes('Press Ctrl-C to stop the dashboard')) return;
    const address = /Dashboard: (\S+)/.exec(shown)![1]!;
    page = fetch(address)
      .then((response) => response.text())
      .finally(() => resumed.kill('SIGINT'));
  });
  const { status, stdout } = await endOf(resumed);
  expect(stdout).toMatch(/gold score, 0 to 1 +0\.\d{3} +0\.\d{3}/);
  expect(await page).toContain('<div id="app">');
  expect(status).toBe(0);
  expect(existsSync(join(output, 'ppo', 'model'))).toBe(true);
  const again = await runCli('demo', '--output', output);
  expect(again.status).toBe(1);
  expect(again.stderr).toContain(`continue that one with --resume ${output}`);
});

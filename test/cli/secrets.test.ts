import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readRunConfig } from '../../src/run/run-folder.ts';
import { runInProcess } from '../helpers/run-cli.ts';
import { makeTrainFolder } from '../helpers/train-setup.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
let host: string;
/** The password that the server accepts. */
let password = 'first-pass';
const at = (name: string) => join(folder, name);
const encoded = Buffer.from('Ada:first-pass').toString('base64');
const secret = new RegExp(`first-pass|other-pass|query-key|${encoded}`);

/** Scores with 1; the responses to others repeat everything that was sent. */
const server = createServer(async (request, response) => {
  const { samples } = (await json(request)) as { samples: object[] };
  const sent = `${request.url} ${request.headers.authorization}`;
  const basic = Buffer.from(`Ada:${password}`).toString('base64');
  const isAllowed = sent === `/score?key=query-key Basic ${basic}`;
  const body = isAllowed ? { scores: samples.map(() => 1) } : { sent };
  response.writeHead(isAllowed ? 200 : 403).end(JSON.stringify(body));
});

const rewardWith = (own: string) => `judge=http://Ada:${own}@${host}/score?key=query-key`;

function start(output: string, ...flags: string[]) {
  const data = ['--model', at('model'), '--prompts', at('prompts.jsonl'), '--output', at(output)];
  const sizes = ['--max-new-tokens', '4', '--batch-size', '4', '--max-steps', '1'];
  return runInProcess('train', ...data, ...sizes, '--reward', rewardWith('first-pass'), ...flags);
}

/** The files of a run that contain a secret. */
const leaksOf = (output: string) =>
  readdirSync(at(output), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => secret.test(readFileSync(file, 'latin1')));

beforeAll(async () => {
  folder = await makeTrainFolder();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

test('the password and the query of a reward URL are only in secrets.json, for the owner', async () => {
  const { status, stdout, stderr } = await start('run', '--json');
  expect(status, stderr).toBe(0);
  expect(stdout + stderr).not.toMatch(secret);
  expect(leaksOf('run')).toEqual([at('run/secrets.json')]);
  expect(statSync(at('run/secrets.json')).mode & 0o777).toBe(0o600);
  expect((await readRunConfig(at('run'))).reward).toEqual([`judge=http://${host}/score`]);
  // The run can be resumed and evaluated without them.
  for (const args of [
    ['train', '--resume', at('run'), '--max-steps', '2'],
    ['train', '--resume', at('run'), '--max-steps', '3', '--dry-run'],
    ['evaluate', '--adapter', at('run')],
  ]) {
    const again = await runInProcess(...args);
    expect(again.status, again.stderr).toBe(0);
    expect(again.stdout + again.stderr).not.toMatch(secret);
  }
});

test('a run that fails, its plan and its errors show no secrets', async () => {
  const planned = await start('planned', '--dry-run');
  expect(planned.stdout).toContain(`judge=http://${host}/score`);
  expect(planned.stdout + planned.stderr).not.toMatch(secret);
  password = 'other-pass';
  const { status, stdout, stderr } = await start('failed');
  expect(status).toBe(1);
  expect(stderr).toContain(`http://${host}/score must respond with status 200, got 403 (`);
  expect(stdout + stderr).not.toMatch(secret);
  expect(leaksOf('failed')).toEqual([at('failed/secrets.json')]);
});

test('a resumed run accepts a new password, and names a changed server without it', async () => {
  password = 'first-pass';
  expect(await start('rotated')).toMatchObject({ status: 0 });
  password = 'other-pass';
  const resume = ['train', '--resume', at('rotated'), '--max-steps', '2'];
  expect(await runInProcess(...resume)).toMatchObject({ status: 1 });
  const moved = rewardWith('first-pass').replace('/score', '/rank');
  const { status, stderr } = await runInProcess(...resume, '--reward', moved);
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: `Cannot resume ${at('rotated')}: --reward must be ["judge=http://${host}/score"] as when the run started, got ["judge=http://${host}/rank"]; leave out the flag or start a new run\n`,
  });
  const rotated = await runInProcess(...resume, '--reward', rewardWith('other-pass'));
  expect(rotated.status, rotated.stderr).toBe(0);
  password = 'first-pass';
  rmSync(at('rotated/secrets.json'));
  const removed = await runInProcess('train', '--resume', at('rotated'), '--max-steps', '3');
  expect(removed.stderr).toContain('must respond with status 200, got 403');
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { packageEntries } from '../src/cli/package-entries.ts';
import { configFields } from '../src/config/config-fields.ts';
import * as proximal from '../src/index.ts';
import {
  createNamedReward,
  namedRewards,
  parseNamedReward,
} from '../src/reward-kl/library/named-rewards.ts';
import { readDocument, root, SnippetFolder } from './helpers/doc-snippets.ts';
import { rewardSample, samplesOf } from './helpers/reward-samples.ts';

const { text, blocks } = readDocument('docs/rewards.md');
const folder = new SnippetFolder();

/** Runs the one snippet that contains a text and returns its output. */
function runSnippetWith(part: string): string {
  const snippets = blocks('ts').filter((code) => code.includes(part));
  expect(snippets).toHaveLength(1);
  const { status, stdout, stderr } = folder.runSnippet(snippets[0]!);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

/** The one block of a language that contains a text. */
function blockWith(language: string, part: string): string {
  const found = blocks(language).filter((code) => code.includes(part));
  expect(found).toHaveLength(1);
  return found[0]!;
}

/** Runs a documented `proximal` command in the folder. */
function runCommand(command: string) {
  const [name, ...args] = command.trim().split(/\s+/);
  expect(name).toBe('proximal');
  const tsx = join(root, 'node_modules/tsx/dist/loader.mjs');
  const main = join(root, 'src/cli/main.ts');
  return folder.run(process.execPath, ['--import', tsx, main, ...args], folder.path);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts the documented server; returns its URL. */
async function startServer(env: Readonly<Record<string, string>>): Promise<string> {
  const port = await findFreePort();
  const file = join(folder.path, 'server.ts');
  writeFileSync(file, blockWith('ts', 'createServer'));
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    ...{ cwd: root, stdio: 'inherit' },
    env: { ...process.env, ...env, PORT: String(port) },
  });
  onTestFinished(() => void child.kill());
  return `http://127.0.0.1:${port}/score`;
}

describe('docs/rewards.md', () => {
  beforeAll(() => folder.fillCache());
  afterAll(() => folder.remove());

  test('combined rewards have metrics by name, within their ranges', () => {
    const lines = runSnippetWith('rewards.combine').trim().split('\n');
    const means = new Map(lines.map((line) => line.split(' ') as [string, string]));
    expect([...means.keys()]).toEqual(['short', 'polite', 'repetitionPenalty']);
    const [short, polite, repetition] = [...means.values()].map(Number);
    expect(Math.abs(short! - 0.5)).toBeLessThanOrEqual(0.5);
    expect(Math.abs(polite!)).toBeLessThanOrEqual(1);
    expect(Math.abs(repetition! + 0.5)).toBeLessThanOrEqual(0.5);
  });

  test('a reward reads correct answers from the dataset, for four responses', () => {
    const correct = 4 * Number(runSnippetWith('numericAnswer'));
    expect([0, 1, 2, 3, 4]).toContain(correct);
  });

  test('custom rewards score whole responses and tokens', () => {
    const [oneSentence, repeats] = runSnippetWith('function oneSentence').split(' ').map(Number);
    expect(Math.abs(oneSentence! - 0.5)).toBeLessThanOrEqual(0.5);
    // At most 19 of 20 tokens can repeat.
    expect(Math.abs(repeats! + 0.95)).toBeLessThanOrEqual(0.95 + 1e-6);
  });

  test('a reward file has named sources with weights', async () => {
    const [code] = blocks('js');
    const file = join(folder.path, 'reward.js');
    writeFileSync(file, code!);
    const sources = await proximal.loadRewardFile(file, { modules: packageEntries });
    expect(sources.map(({ source, weight }) => [source.name, weight])).toEqual([
      ['thoughtful', 2],
      ['calm', 1],
    ]);
    const { signal } = new AbortController();
    const samples = samplesOf('<think>a</think><answer>b</answer>', 'No!');
    const scores = await Promise.all(
      sources.map(({ source }) => source.score(samples, { signal })),
    );
    expect(scores).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });

  test('every named reward can be created', () => {
    const lines = blocks('text')[0]!.trim().split('\n');
    const specs = lines.map((line) => parseNamedReward(line));
    for (const { name, options } of specs) expect(createNamedReward(name, options).name).toBe(name);
    expect(specs.map(({ weight }) => weight)).toEqual([
      1, 0.5, 1, 0.5, 1, 1, 1, 1, 1, 2, 1, -1, 1, 1,
    ]);
  });

  test('the tables list every reward and every option with its default', () => {
    const rows = [...text.matchAll(/^\| `(\w+)` \| `(\w+)` \| (.*?) ?\|/gm)];
    const documented = rows.map(([, name, option, standard]) => [name, option, standard].join(' '));
    const known = Object.entries(namedRewards).flatMap(([name, { options }]) =>
      configFields(options).map(({ key, default: standard }) =>
        [name, key, Array.isArray(standard) ? 'none' : (standard ?? '')].join(' '),
      ),
    );
    expect(documented).toEqual(known);
    const scored = [...text.matchAll(/^\| `(\w+)` \| [^`|]/gm)].map(([, name]) => name);
    expect(scored).toEqual(Object.keys(namedRewards));
  });

  test('the server scores samples over HTTP and checks the token', async () => {
    const url = await startServer({ PROXIMAL_REWARD_TOKEN: 'secret' });
    const { signal } = new AbortController();
    const samples = [...samplesOf('abcd'), rewardSample({ response: 'ab', finished: false })];
    // The first attempts may come before the server listens.
    const source = new proximal.RemoteSource({ url, token: 'secret', retries: 20 });
    expect(await source.score(samples, { signal })).toEqual([0.996, -0.002]);
    const unauthorized = new proximal.RemoteSource({ url, token: 'expired-token' });
    await expect(unauthorized.score(samples, { signal })).rejects.toThrow(
      `${url} must respond with status 200, got 401 ({"error":"wrong token"})`,
    );

    vi.stubEnv('PROXIMAL_REWARD_TOKEN', 'secret');
    onTestFinished(() => void vi.unstubAllEnvs());
    writeFileSync(
      join(folder.path, 'prompts.jsonl'),
      '{"prompt": "The cat"}\n{"prompt": "A dog"}\n',
    );
    const command = blockWith('sh', '127.0.0.1').replace('http://127.0.0.1:8000/score', url);
    const small = '--max-steps 1 --batch-size 2 --max-new-tokens 4 --validation-fraction 0 --json';
    const { status, stdout, stderr } = runCommand(`${command.trim()} ${small}`);
    expect(stderr).not.toContain('Cannot');
    expect(status).toBe(0);
    // Scores of at most 4 bytes, finished or not.
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const mean = events.find(({ type }) => type === 'step').metrics['rewards/judge/mean'];
    expect(mean).toBeGreaterThanOrEqual(-0.012);
    expect(mean).toBeLessThanOrEqual(1);
    expect(mean).not.toBe(0);
  });

  test('the documented request and response are what a server receives and may return', async () => {
    const [request, response] = blocks('json').map((code) => code.trim());
    const { samples } = JSON.parse(request!);
    const { scores } = JSON.parse(response!);
    let received = '';
    vi.stubGlobal('fetch', async (_: URL, { body }: { body: string }) => {
      received = body;
      return new Response(response);
    });
    onTestFinished(() => void vi.unstubAllGlobals());
    const source = new proximal.RemoteSource({ url: 'http://127.0.0.1:8000/score' });
    const sent = samples.map((sample: proximal.RewardSample) =>
      rewardSample({ ...sample, tokens: Int32Array.from(sample.tokens) }),
    );
    const { signal } = new AbortController();
    expect(await source.score(sent, { signal })).toEqual(scores);
    expect(JSON.parse(received)).toEqual({ samples });
  });

  test('a failing reward is debugged with evaluate', { timeout: 240_000 }, () => {
    writeFileSync(join(folder.path, 'reward.ts'), blockWith('ts', 'function topic'));
    writeFileSync(join(folder.path, 'prompts.jsonl'), blockWith('json', 'keyword'));
    const command = blockWith('sh', 'evaluate');
    const { status, stdout, stderr } = runCommand(command);
    expect(status).toBe(1);
    expect(stdout).toBe('');
    const [start, end] = blockWith('text', 'Cannot score').trim().split('It is late.');
    const lines = stderr.trim().split('\n');
    expect(lines.some((line) => line.startsWith('Cat "'))).toBe(true);
    expect(lines.at(-1)!.startsWith(start!)).toBe(true);
    expect(lines.at(-1)!.endsWith(end!)).toBe(true);

    vi.stubEnv('PROXIMAL_DEBUG', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(runCommand(command).stderr).toMatch(/\n +at .*topic.*reward\.ts:7:/);
    vi.unstubAllEnvs();

    writeFileSync(join(folder.path, 'prompts.jsonl'), '{"prompt": "The cat", "keyword": "Cat"}\n');
    const fixed = runCommand(`${command.trim()} --json`);
    expect(fixed.status).toBe(0);
    expect([0, 1]).toContain(JSON.parse(fixed.stdout).reference.reward);
    expect(fixed.stderr).toContain('Cat "');
  });
});

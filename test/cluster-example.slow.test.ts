import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasRedis, RedisProcess } from '../bench/redis-process.ts';
import { embeddedFolder } from '../src/embedded/embedded-files.ts';
import { clusterFolder, composeContainers, readCluster } from './helpers/cluster-example.ts';
import { root } from './helpers/doc-snippets.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

const PASSWORD = 'a password: 100% secret/#?';
const STEPS = 2;

const folder = mkdtempSync(join(tmpdir(), 'proximal-cluster-'));
const children: ChildProcess[] = [];
let redis: RedisProcess;

/** Starts a command of compose.yaml; `proximal` is the one of this repository. */
function start(args: readonly string[]): { child: ChildProcess; output: () => string } {
  const [command, ...rest] = args;
  const child = spawn(command!, rest, {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      RUN: join(folder, 'run'),
      PROXIMAL_QUEUE: redis.url(),
      PROXIMAL_QUEUE_PASSWORD: PASSWORD,
      PROXIMAL_THREADS: '1',
      HF_HUB_OFFLINE: '1',
    },
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text += chunk;
    });
  }
  return { child, output: () => text };
}

/** A run of the example's files with the embedded model and few, short steps. */
function writeShortRun(): void {
  cpSync(clusterFolder, folder, { recursive: true });
  const yaml = readCluster('train.yaml')
    .replace(/^modelName: .*$/m, `modelName: ${embeddedFolder}`)
    .replace(/^maxNewTokens: .*$/m, 'maxNewTokens: 8')
    .replace(/^evalInterval: .*$/m, `evalInterval: 0\nmaxSteps: ${STEPS}\nstopOnCollapse: false`);
  writeFileSync(join(folder, 'train.yaml'), yaml);
  const program = join(folder, 'proximal');
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${root}/bin/proximal.mjs "$@"\n`);
  chmodSync(program, 0o755);
}

describe.skipIf(!hasRedis())(
  `examples/cluster${hasRedis() ? '' : ' (skipped: redis-server is not on the path)'}`,
  () => {
    beforeAll(async () => {
      writeShortRun();
      const [, , command] = composeContainers().redis!.args;
      const settings = /--requirepass "[^"]*" (.*)$/.exec(command!)![1]!.split(' ');
      redis = await RedisProcess.start(['--requirepass', PASSWORD, ...settings]);
    });
    afterAll(async () => {
      for (const child of children) child.kill('SIGKILL');
      await redis.stop();
      rmSync(folder, { recursive: true });
    });

    test('trains to the end with two workers, which then stop on SIGTERM', async () => {
      const { trainer, worker } = composeContainers();
      const workers = [start(worker!.args), start(worker!.args)];
      const run = start(trainer!.args);
      const [status] = await once(run.child, 'exit');
      expect([status, run.output()]).toEqual([0, expect.any(String)]);
      const lines = readFileSync(join(folder, 'run/metrics.jsonl'), 'utf8').trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line).step)).toEqual([1, 2]);
      expect(existsSync(join(folder, 'run/model/adapter_model.safetensors'))).toBe(true);
      for (const { child, output } of workers) {
        expect(output()).toContain('Joined run run with 1 thread');
        expect(output()).toMatch(/run: \w+ \d+ of step \d+ done/);
        child.kill();
        expect(await once(child, 'exit')).toEqual([0, null]);
      }
      const printed = [run, ...workers].map(({ output }) => output()).join('');
      const saved = readFileSync(join(folder, 'run/config.json'), 'utf8');
      for (const text of [printed, saved]) {
        expect(text).not.toContain(PASSWORD);
        expect(text).not.toContain(encodeURIComponent(PASSWORD));
      }
    });

    test('resumes a run whose trainer starts again', async () => {
      const { trainer, worker } = composeContainers();
      const { child } = start(worker!.args);
      const script = readFileSync(join(folder, 'start.sh'), 'utf8');
      const longer = script.replace('--resume "$RUN"', `--resume "$RUN" --max-steps ${STEPS + 1}`);
      writeFileSync(join(folder, 'start.sh'), longer);
      const run = start(trainer!.args);
      const [status] = await once(run.child, 'exit');
      expect([status, run.output()]).toEqual([0, expect.any(String)]);
      const lines = readFileSync(join(folder, 'run/metrics.jsonl'), 'utf8').trimEnd().split('\n');
      expect(lines).toHaveLength(STEPS + 1);
      child.kill();
      await once(child, 'exit');
    });
  },
);

import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { addTrain } from '../src/cli/train.ts';
import { addWorker } from '../src/cli/worker.ts';
import { addWorkers } from '../src/cli/workers.ts';
import { resolveRunConfig } from '../src/config/run-config.ts';
import { PASSWORD_VARIABLE, QUEUE_VARIABLE } from '../src/queue/queue-url.ts';
import {
  composeContainers,
  kubernetesContainers,
  kubernetesManifests,
  readCluster,
} from './helpers/cluster-example.ts';

const commands = { train: addTrain, worker: addWorker, workers: addWorkers };

/** The long flags of a command. */
function flagsOf(name: string): string[] {
  const command = new Command(name);
  const add = commands[name as keyof typeof commands];
  if (add === undefined) throw new Error(`no command "${name}" in the example`);
  add(command);
  return command.options.map(({ long }) => long!);
}

/** Every `proximal` command in a text. */
function commandsIn(text: string): string[][] {
  return [...text.matchAll(/\bproximal ((?:train|worker|workers)\b[^\n]*)/g)].map(([, line]) =>
    line!
      .replace(/[`;].*$/, '')
      .trim()
      .split(/\s+/),
  );
}

const platforms = [
  ['compose.yaml', composeContainers()],
  ['kubernetes.yaml', kubernetesContainers()],
] as const;

describe.each(platforms)('examples/cluster/%s', (_, { redis, trainer, worker }) => {
  test('has one image for trainer and workers', () => {
    expect(worker!.image).toBe('proximal-cluster');
    expect(trainer!.image).toBe(worker!.image);
  });

  test('connects trainer and workers to the same queue with the same password', () => {
    expect(trainer!.env[QUEUE_VARIABLE]).toBe('redis://redis:6379/0');
    expect(worker!.env[QUEUE_VARIABLE]).toBe(trainer!.env[QUEUE_VARIABLE]);
    for (const { env } of [redis!, trainer!, worker!]) {
      expect(env[PASSWORD_VARIABLE]).toEqual(trainer!.env[PASSWORD_VARIABLE]);
      expect(env[PASSWORD_VARIABLE]).toBeDefined();
    }
  });

  test('has a Redis with a password that keeps its data and evicts nothing', () => {
    const [, , command] = redis!.args;
    expect(command).toContain('--requirepass "$PROXIMAL_QUEUE_PASSWORD"');
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
    // BullMQ and blobs need 6.2.
    expect(redis!.image).toBe('redis:7');
  });

  test('runs a worker without flags, and start.sh as the trainer', () => {
    expect(worker!.args).toEqual(['proximal', 'worker']);
    expect(trainer!.args).toEqual(['sh', 'start.sh']);
    expect(trainer!.env.RUN).toBe('/runs/cluster');
  });

  test('lets a worker complete its job and a trainer its step', () => {
    expect(worker!.grace).toBe(300);
    expect(trainer!.grace).toBe(600);
  });

  test('gives the trainer a fixed host name, which the lock of a run needs', () => {
    expect(trainer!.hostname).toBe('trainer');
  });

  test('sets the threads of the trainer only', () => {
    expect(trainer!.env).toHaveProperty('PROXIMAL_THREADS');
    expect(worker!.env).not.toHaveProperty('PROXIMAL_THREADS');
  });
});

test('the service of Redis has the port of the queue', () => {
  const service = kubernetesManifests().find(({ kind }) => kind === 'Service')!;
  expect(service.metadata.name).toBe('redis');
  expect(service.spec.ports).toEqual([{ port: 6379 }]);
});

test('both platforms start Redis with the same command', () => {
  const [compose, kubernetes] = platforms.map(([, { redis }]) => redis!.args);
  expect(compose).toEqual(kubernetes);
});

test.each(['start.sh', 'README.md', 'compose.yaml'])('%s uses flags that exist', (file) => {
  const lines = commandsIn(readCluster(file));
  for (const [name, ...args] of lines) {
    const flags = args.filter((arg) => arg.startsWith('--'));
    expect(flagsOf(name!)).toEqual(expect.arrayContaining(flags));
  }
  if (file === 'start.sh') expect(lines).toHaveLength(2);
});

test('the image has every file that the trainer reads', () => {
  const copied = /^COPY (.*) \.\/$/m.exec(readCluster('Dockerfile'))![1]!.split(' ');
  expect(copied).toEqual(['train.yaml', 'prompts.jsonl', 'start.sh']);
  for (const file of copied) expect(readCluster(file).length).toBeGreaterThan(0);
});

test('train.yaml splits a step into as many jobs as its comment says', () => {
  const { reward, ...fields } = parse(readCluster('train.yaml'));
  const config = resolveRunConfig({ ...fields, reward: [reward] });
  const { batchSize, samplesPerPrompt, rolloutShardSize, microBatchSize, saveInterval } = config;
  expect(batchSize / rolloutShardSize!).toBe(16);
  expect((batchSize * samplesPerPrompt) / microBatchSize!).toBe(16);
  expect(saveInterval).toBe(1);
});

test('prompts.jsonl has correct answers', () => {
  const rows = readCluster('prompts.jsonl').trimEnd().split('\n');
  expect(rows).toHaveLength(96);
  for (const { question, answer } of rows.map((row) => JSON.parse(row))) {
    const [, a, sign, b] = /^(\d+) ([+-]) (\d+)$/.exec(question)!;
    expect(answer).toBe(sign === '+' ? Number(a) + Number(b) : Number(a) - Number(b));
  }
});

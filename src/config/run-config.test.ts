import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type RunConfigOptions, resolvePaths, resolveRunConfig } from './run-config.ts';

const required = { prompts: 'p.jsonl', reward: ['reward.ts'] };

describe('resolveRunConfig()', () => {
  test('fills in the defaults of PPO, training, data and the run', () => {
    expect(resolveRunConfig(required)).toMatchObject({
      ...required,
      gamma: 0.99,
      numEpochs: 10,
      validationFraction: 0.1,
      rewardTimeout: 60,
    });
  });

  test.each<[Partial<RunConfigOptions>, string]>([
    [
      { reward: [] },
      'reward must be set, such as reward.ts, http://server/score, human, human:scores.jsonl or model:folder, got nothing',
    ],
    [{ humanTimeout: 0 }, 'humanTimeout must be a number > 0, got 0'],
    [{ reward: ['model:'] }, 'reward must name a file, a server or a folder, got "model:"'],
    [
      { batchSize: 2, miniBatchSize: 3 },
      'miniBatchSize must be at most batchSize × samplesPerPrompt (2), got 3',
    ],
    [
      { template: '{a}', promptColumn: 'b' },
      'promptColumn must not be set with template, which names its columns, got "b"',
    ],
    [
      { valueInit: 'reward', reward: ['model:rm=0.5'] },
      'valueInit must be zero unless exactly one reward is a model: with weight 1 for the value model to copy, got model:rm=0.5',
    ],
    [
      { valueInit: 'reward', reward: ['http://me:pass@host/score?key=1', 'flesch'] },
      'valueInit must be zero unless exactly one reward is a model: with weight 1 for the value model to copy, got http://host/score, flesch',
    ],
  ])('rejects %j', (options, error) => {
    expect(() => resolveRunConfig({ ...required, ...options }, { name: 'a.yaml' })).toThrow(
      `Cannot use a.yaml: ${error}`,
    );
  });

  test('suggests the nearest known key for an unknown one', () => {
    const typo = { ...required, keepCheckpoint: 3 } as RunConfigOptions;
    expect(() => resolveRunConfig(typo)).toThrow(
      'Cannot use the run config: it has no "keepCheckpoint"; did you mean "keepCheckpoints"?',
    );
  });
});

describe('resolvePaths()', () => {
  test('resolves relative paths against a folder and keeps hub ids and URLs', () => {
    const config = {
      modelName: 'Qwen/Qwen3-0.6B',
      prompts: 'p.jsonl',
      validationFile: 'owner/name',
      output: 'runs/a',
      rollouts: 'vllm:http://host:8000',
      rolloutFolder: 'shared',
      reward: ['r.ts=2', 'model:rm', 'http://host/score', 'human=2'],
    };
    expect(resolvePaths(config, 'conf')).toEqual({
      modelName: 'Qwen/Qwen3-0.6B',
      prompts: join('conf', 'p.jsonl'),
      validationFile: 'owner/name',
      output: join('conf', 'runs/a'),
      rollouts: 'vllm:http://host:8000',
      rolloutFolder: join('conf', 'shared'),
      reward: [
        ...[`${join('conf', 'r.ts')}=2`, `model:${join('conf', 'rm')}`],
        ...['http://host/score', 'human=2'],
      ],
    });
  });

  test('treats a name that starts with ./ or exists in the folder as a path', () => {
    const folder = import.meta.dirname;
    expect(resolvePaths({ modelName: './m' }, 'conf')).toEqual({ modelName: join('conf', 'm') });
    expect(resolvePaths({ modelName: 'run-config.ts' }, folder)).toEqual({
      modelName: join(folder, 'run-config.ts'),
    });
  });

  test('adds no missing fields', () => {
    expect(resolvePaths({}, 'conf')).toEqual({});
  });
});

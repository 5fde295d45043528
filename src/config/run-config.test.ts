import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  parseRewardSpec,
  placePaths,
  type RunConfigOptions,
  resolveRunConfig,
} from './run-config.ts';

const given = { prompts: 'p.jsonl', reward: ['reward.ts'] };

describe('resolveRunConfig()', () => {
  test('fills in the defaults of PPO, training, data and the run', () => {
    expect(resolveRunConfig(given)).toMatchObject({
      ...given,
      gamma: 0.99,
      numEpochs: 10,
      validationFraction: 0.1,
      rewardTimeout: 60_000,
    });
  });

  test.each<[Partial<RunConfigOptions>, string]>([
    [
      { reward: [] },
      'reward must be given, such as reward.ts, http://server/score, human, human:scores.jsonl or model:folder, got none',
    ],
    [{ humanTimeout: 0 }, 'humanTimeout must be a number > 0, got 0'],
    [{ reward: ['model:'] }, 'reward must name a file, a server or a folder, got "model:"'],
    [
      { batchSize: 2, miniBatchSize: 3 },
      'miniBatchSize must be at most batchSize × samplesPerPrompt (2), got 3',
    ],
    [
      { template: '{a}', promptColumn: 'b' },
      'promptColumn must not be given beside template, which names its columns, got "b"',
    ],
    [
      { valueInit: 'reward', reward: ['model:rm=0.5'] },
      'valueInit must be zero unless one reward is a model: of weight 1, whose copy the value model starts as, got model:rm=0.5',
    ],
  ])('refuses %j', (options, fault) => {
    expect(() => resolveRunConfig({ ...given, ...options }, { name: 'a.yaml' })).toThrow(
      `Cannot use a.yaml: ${fault}`,
    );
  });

  test('names the nearest key of an unknown one, whatever part it belongs to', () => {
    const typo = { ...given, keepCheckpoint: 3 } as RunConfigOptions;
    expect(() => resolveRunConfig(typo)).toThrow(
      'Cannot use the run config: it has no "keepCheckpoint"; did you mean "keepCheckpoints"?',
    );
  });
});

describe('parseRewardSpec()', () => {
  test.each([
    ['reward.ts', { kind: 'file', place: 'reward.ts', weight: 1 }],
    ['a=b.ts=2', { kind: 'file', place: 'a=b.ts', weight: 2 }],
    ['model:runs/rm=0.5', { kind: 'model', place: 'runs/rm', weight: 0.5 }],
    ['human', { kind: 'live', place: 'human', weight: 1 }],
    ['human=0.5', { kind: 'live', place: 'human', weight: 0.5 }],
    ['humane', { kind: 'library', place: 'humane', weight: 1 }],
    ['human:s.jsonl=-1e-1', { kind: 'human', place: 's.jsonl', weight: -0.1 }],
    ['http://host/score=3', { kind: 'server', place: 'http://host/score', weight: 3 }],
    ['https://host/score?v=2', { kind: 'server', place: 'https://host/score?v=2', weight: 1 }],
  ])('reads %s', (text, spec) => {
    expect(parseRewardSpec(text)).toEqual(spec);
  });

  test('reads back any weight', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (weight) => {
        expect(parseRewardSpec(`r.ts=${weight}`).weight).toBe(Number(String(weight)));
      }),
    );
  });
});

describe('placePaths()', () => {
  test('takes relative paths from a folder, and leaves hub ids and addresses', () => {
    const config = {
      modelName: 'Qwen/Qwen3-0.6B',
      prompts: 'p.jsonl',
      validationFile: 'owner/name',
      output: 'runs/a',
      reward: ['r.ts=2', 'model:rm', 'http://host/score', 'human=2'],
    };
    expect(placePaths(config, 'conf')).toEqual({
      modelName: 'Qwen/Qwen3-0.6B',
      prompts: join('conf', 'p.jsonl'),
      validationFile: 'owner/name',
      output: join('conf', 'runs/a'),
      reward: [
        ...[`${join('conf', 'r.ts')}=2`, `model:${join('conf', 'rm')}`],
        ...['http://host/score', 'human=2'],
      ],
    });
  });

  test('takes a name that starts with ./, or exists in the folder, for a path', () => {
    const folder = import.meta.dirname;
    expect(placePaths({ modelName: './m' }, 'conf')).toEqual({ modelName: join('conf', 'm') });
    expect(placePaths({ modelName: 'run-config.ts' }, folder)).toEqual({
      modelName: join(folder, 'run-config.ts'),
    });
  });

  test('adds nothing that was not given', () => {
    expect(placePaths({}, 'conf')).toEqual({});
  });
});

import { expect, test } from 'vitest';
import { nearestName } from './parse-config.ts';
import { resolvePPOConfig } from './ppo-config.ts';
import { resolveRunConfig } from './run-config.ts';
import { resolveRewardConfig, resolveSFTConfig } from './stage-config.ts';

const names = ['hiddenSize', 'headDim', 'numLayers', 'dropout'];

test.each([
  ['hiddensize', 'hiddenSize'],
  ['hidden_size', 'hiddenSize'],
  ['hidden-sise', 'hiddenSize'],
  ['head_dimm', 'headDim'],
  ['num_hidden_layers', 'numLayers'],
  ['droput', 'dropout'],
])('nearestName() suggests a name for %s', (name, nearest) => {
  expect(nearestName(name, names)).toBe(nearest);
});

test.each(['learningRate', 'x', ''])('nearestName() suggests nothing for %j', (name) => {
  expect(nearestName(name, names)).toBeUndefined();
});

test('nearestName() suggests nothing from an empty list', () => {
  expect(nearestName('x', [])).toBeUndefined();
});

test.each([resolvePPOConfig, resolveSFTConfig, resolveRewardConfig])(
  'a config accepts model for modelName (%#)',
  (resolve) => {
    expect(resolve({ model: 'owner/name' })).toEqual(resolve({ modelName: 'owner/name' }));
    expect(resolve({ model: undefined })).toEqual(resolve());
  },
);

test('an error suggests the nearest allowed value', () => {
  expect(() => resolvePPOConfig({ schedule: 'cosinus' as 'cosine' })).toThrow(
    'schedule must be constant, linear or cosine, got "cosinus"; did you mean "cosine"?',
  );
});

test('an error shows URLs without passwords', () => {
  const reward = 'https://me:pass@host/score?key=1' as unknown as string[];
  expect(() => resolveRunConfig({ prompts: 'p.jsonl', reward })).toThrow(
    /^Cannot use the run config: reward must be .*, got "https:\/\/host\/score"$/,
  );
});

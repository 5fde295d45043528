import { describe, expect, test } from 'vitest';
import { nameFlags } from './flag-names.ts';

const keys = ['batchSize', 'miniBatchSize', 'modelName', 'template', 'prompts', 'rewardTimeout'];

describe('nameFlags()', () => {
  test.each([
    [
      'Cannot use the flags: miniBatchSize must be at most batchSize × samples (4), got 8',
      'Cannot use the flags: --mini-batch-size must be at most --batch-size × samples (4), got 8',
    ],
    [
      'Cannot use the flags: prompts must be set, got nothing',
      'Cannot use the flags: --prompts must be set, got nothing',
    ],
    ['modelName must be text', '--model must be text'],
    ['set batchSize or template', 'set --batch-size or --template'],
    ['raise rewardTimeout if it needs longer', 'raise --reward-timeout if it needs longer'],
  ])('%s', (sentence, named) => {
    expect(nameFlags(sentence, keys)).toBe(named);
  });

  test.each([
    'Cannot read a.csv: "batchSize" must be a number, "a \\" batchSize" too',
    'Cannot use shorter prompts, or a template: all prompts are the same',
    'Cannot read runs/batchSize.json and my-batchSize',
    'Cannot use the flags: gamma must be a number',
  ])('leaves other words: %s', (sentence) => {
    expect(nameFlags(sentence, keys)).toBe(sentence);
  });

  test('leaves everything without keys', () => {
    expect(nameFlags('batchSize must be 1', [])).toBe('batchSize must be 1');
  });
});

import { describe, expect, test } from 'vitest';
import { configFields } from './config-fields.ts';
import {
  dataConfigSchema,
  dataConfigShape,
  resolveDataConfig,
  resolvePromptOptions,
} from './data-config.ts';
import { ConfigError } from './parse-config.ts';
import { ppoConfigShape } from './ppo-config.ts';
import { trainingConfigShape } from './training-config.ts';

/** The error message for a rejected config. */
function errorOf(config: unknown): string {
  try {
    resolveDataConfig(config as { prompts: string });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return expect.fail('the config was accepted');
}

describe('resolveDataConfig()', () => {
  test('requires only the prompts', () => {
    expect(resolveDataConfig({ prompts: 'prompts.jsonl' })).toEqual({
      prompts: 'prompts.jsonl',
      split: 'train',
      truncatePrompts: 'none',
      chat: false,
      validationFraction: 0.1,
    });
  });

  test.each([
    [{}, 'prompts must be text that is not empty, got nothing'],
    [{ prompts: 'a', promptcolumn: 'b' }, 'it has no "promptcolumn"; did you mean "promptColumn"?'],
    [
      { prompts: 'a', validationFraction: 1 },
      'validationFraction must be a number ≥ 0 and < 1, got 1',
    ],
    [{ prompts: 'a', maxPrompts: 0 }, 'maxPrompts must be a whole number ≥ 1, got 0'],
    [
      { prompts: 'a', template: 'Q: {question}', promptColumn: 'question' },
      'promptColumn must not be set with template, which names its columns, got "question"',
    ],
    [
      { prompts: 'a', template: '{{question}}\n' },
      'template must contain a {column}, otherwise all prompts are the same, got "{{question}}\\n"',
    ],
  ])('rejects %j', (config, error) => {
    expect(errorOf(config)).toBe(`Cannot use the data config: ${error}`);
  });

  test('allows escaped braces next to a column', () => {
    const template = '{{"q": "{question}"}}';
    expect(resolvePromptOptions({ template }).template).toBe(template);
  });
});

test('every field of the data config has a description', () => {
  const bare = configFields(dataConfigSchema).filter(({ description }) => description === '');
  expect(bare).toEqual([]);
});

test('the data config shares no field name with the PPO or training config', () => {
  const others = Object.keys({ ...ppoConfigShape, ...trainingConfigShape });
  expect(Object.keys(dataConfigShape).filter((key) => others.includes(key))).toEqual([]);
});

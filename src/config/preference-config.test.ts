import { describe, expect, test } from 'vitest';
import { completionOptionsSchema, resolveCompletionOptions } from './completion-config.ts';
import { configFields } from './config-fields.ts';
import { preferenceOptionsSchema, resolvePreferenceOptions } from './preference-config.ts';

describe('resolvePreferenceOptions()', () => {
  test('defaults to the usual columns, reports bad rows and appends EOS', () => {
    expect(resolvePreferenceOptions()).toMatchObject({
      chosenColumn: 'chosen',
      rejectedColumn: 'rejected',
      completionsColumn: 'completions',
      onBadRow: 'report',
      appendEos: true,
      validationFraction: 0.1,
    });
  });

  test.each([
    [{ chosenColum: 'a' }, 'it has no "chosenColum"; did you mean "chosenColumn"?'],
    [{ ratingMax: 5 }, 'ratingMin must be set together with ratingMax'],
    [{ ratingMin: 5 }, 'ratingMax must be set together with ratingMin'],
    [{ ratingMin: 5, ratingMax: 5 }, 'ratingMax must be above ratingMin (5), got 5'],
    [{ format: 'pairs' }, 'format must be pair, best, ranking or rating, got "pairs"'],
    [{ maxTokens: 0 }, 'maxTokens must be a whole number ≥ 1, got 0'],
    [
      { template: 'Q' },
      'template must contain a {column}, otherwise all prompts are the same, got "Q"',
    ],
  ])('rejects %j', (options: object, error) => {
    expect(() => resolvePreferenceOptions(options)).toThrow(
      `Cannot use the preference options: ${error}`,
    );
  });
});

describe('resolveCompletionOptions()', () => {
  test('truncates long texts by default', () => {
    expect(resolveCompletionOptions()).toMatchObject({
      completionColumn: 'completion',
      textColumn: 'text',
      messagesColumn: 'messages',
      tooLong: 'truncate',
    });
  });

  test('rejects an unknown choice', () => {
    expect(() => resolveCompletionOptions({ tooLong: 'shorten' as 'drop' })).toThrow(
      'Cannot use the completion options: tooLong must be truncate or drop, got "shorten"',
    );
  });
});

test.each([
  ['completion', completionOptionsSchema],
  ['preference', preferenceOptionsSchema],
])('every field of the %s options has a description', (_, schema) => {
  const bare = configFields(schema).filter(({ description }) => description === '');
  expect(bare).toEqual([]);
});

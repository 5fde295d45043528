import { expect, test } from 'vitest';
import { describePrompts } from './run-data.ts';

const none = {
  ...{ kept: 5, dropped: 0, empty: 0, repeated: 0, droppedLongest: 0, truncated: 0, examples: [] },
  limit: { maxTokens: 512, reason: 'maxPromptTokens' },
};

test('describePrompts() returns nothing if all prompts are used', () => {
  expect(describePrompts(none)).toEqual([]);
});

test('describePrompts() counts prompts by reason and names the limit', () => {
  const dropped = { ...none, dropped: 2, empty: 1, droppedLongest: 900 };
  expect(describePrompts({ ...dropped, examples: ['p.jsonl line 3', 'p.jsonl line 9'] })).toEqual([
    'Left out 2 of 7 prompts: 1 empty, 1 of more than 512 tokens (maxPromptTokens), up to 900; the first: p.jsonl line 3',
  ]);
  expect(describePrompts({ ...none, repeated: 1, truncated: 2 })).toEqual([
    'Left out 1 of 6 prompts: 1 also in the validation set',
    'Truncated 2 of 6 prompts to the last 512 tokens (maxPromptTokens)',
  ]);
});

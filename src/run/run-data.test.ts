import { expect, test } from 'vitest';
import { describeDropped } from './run-data.ts';

const none = { kept: 5, dropped: 0, empty: 0, repeated: 0, droppedLongest: 0, examples: [] };

test('describeDropped() returns undefined if all prompts are used', () => {
  expect(describeDropped(none)).toBeUndefined();
});

test('describeDropped() counts dropped prompts by reason', () => {
  const dropped = { ...none, dropped: 2, empty: 1, droppedLongest: 900 };
  expect(describeDropped({ ...dropped, examples: ['p.jsonl line 3', 'p.jsonl line 9'] })).toBe(
    'Left out 2 prompts: 1 empty, 1 too long (up to 900 tokens), such as p.jsonl line 3',
  );
  expect(describeDropped({ ...none, repeated: 1 })).toBe(
    'Left out 1 prompt: 1 also in the validation set',
  );
});

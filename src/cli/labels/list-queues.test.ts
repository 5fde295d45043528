import { expect, test } from 'vitest';
import { formatQueues } from './list-queues.ts';

const queue = {
  id: 'good-3f9a2c',
  name: 'Good',
  kind: 'pair',
  live: false,
  total: 10,
  answered: 3,
  labellers: [
    { name: 'Ada', answers: 3 },
    { name: 'Bob', answers: 3 },
  ],
  agreement: 2 / 3,
  alpha: 4 / 9,
} as const;

test('formatQueues() has a line for each queue', () => {
  expect(formatQueues([queue], 'labels')).toBe(
    [
      '  id           name  kind  answered  agreement  alpha  by',
      '  good-3f9a2c  Good  pair   3 of 10       67 %   0.44  Ada 3, Bob 3',
    ].join('\n'),
  );
});

test('formatQueues() has nothing for a terminal to obey', () => {
  const hostile = {
    ...queue,
    name: '\u001b[31mred\u202e',
    labellers: [{ name: 'a\rb', answers: 1 }],
  };
  const text = formatQueues([{ ...hostile, agreement: null, alpha: null }], 'labels');
  expect(text).toContain('[31mred');
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('formatQueues() says what to do where there are none', () => {
  expect(formatQueues([], 'my-labels')).toBe(
    'No queues in my-labels; "proximal labels create" makes one',
  );
});

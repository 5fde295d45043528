import { expect, test } from 'vitest';
import type { DashboardEvent, LabelQueue, LiveSource } from '../../api.ts';
import { answersOf, queueStoreOf, sayError, sortQueues } from './queue-store.ts';

function queue(id: string, more: Partial<LabelQueue> = {}): LabelQueue {
  const open = { live: false, total: 2, answered: 0, labellers: [], agreement: null };
  return { id, name: id, kind: 'pair', ...open, ...more };
}

test('sortQueues() puts what a run waits for first and what is done last', () => {
  const sorted = sortQueues([queue('a', { answered: 2 }), queue('b'), queue('c', { live: true })]);
  expect(sorted.map(({ id }) => id)).toEqual(['c', 'b', 'a']);
});

test('answersOf() counts one labeller’s answers', () => {
  const labellers = [{ name: 'Ada', answers: 3 }];
  expect(answersOf(queue('a', { labellers }), 'Ada')).toBe(3);
  expect(answersOf(queue('a', { labellers }), 'Bob')).toBe(0);
});

test('sayError() is one line', () => {
  expect(sayError(new Error('a\n  b'))).toBe('a b');
  expect(sayError('c')).toBe('c');
});

test('a source is subscribed to once, and its events replace the queues', async () => {
  const listeners: ((event: DashboardEvent) => void)[] = [];
  const source = {
    subscribe: (listener: (event: DashboardEvent) => void) => void listeners.push(listener),
    queues: async () => [queue('a')],
  } as unknown as LiveSource;
  const store = queueStoreOf(source);
  await store.load();
  expect(queueStoreOf(source)).toBe(store);
  expect(listeners).toHaveLength(1);
  listeners[0]!({ type: 'labels', queues: [queue('a'), queue('b')] });
  store.put(queue('a', { answered: 1 }));
  store.put(queue('c'));
  expect(store.queues.value?.map(({ id, answered }) => [id, answered])).toEqual([
    ['a', 1],
    ['b', 0],
    ['c', 0],
  ]);
  expect(store.find('b')?.id).toBe('b');
});

import { expect, test } from 'vitest';
import type { DashboardEvent, LabelQueue, LiveSource } from '../../api.ts';
import { answersOf, QueueStore, sayError, sortQueues } from './queue-store.ts';

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

/** A source whose events the test makes. */
function makeSource() {
  const listeners = new Set<(event: DashboardEvent | { type: 'lost' }) => void>();
  const live = {
    subscribe: (listener: (event: DashboardEvent | { type: 'lost' }) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    queues: async () => [queue('a')],
  } as unknown as LiveSource;
  const tell = (event: DashboardEvent | { type: 'lost' }) => {
    for (const listener of listeners) listener(event);
  };
  return { live, tell };
}

test('events replace the queues until the store is closed', async () => {
  const { live, tell } = makeSource();
  const store = new QueueStore(live);
  await store.load();
  tell({ type: 'labels', queues: [queue('a'), queue('b')] });
  store.put(queue('a', { answered: 1 }));
  store.put(queue('c'));
  const all = [
    ['a', 1],
    ['b', 0],
    ['c', 0],
  ];
  const read = () => store.queues.value?.map(({ id, answered }) => [id, answered]);
  expect(read()).toEqual(all);
  expect(store.find('b')?.id).toBe('b');
  store.close();
  tell({ type: 'labels', queues: [] });
  expect(read()).toEqual(all);
});

test('a queue that is being filled is known until it ends, or the server is lost', () => {
  const { live, tell } = makeSource();
  const { filling } = new QueueStore(live);
  const queue = { name: 'Fresh', done: 8, total: 10 };
  for (const end of [{ type: 'filling', queue: null }, { type: 'lost' }] as const) {
    tell({ type: 'filling', queue });
    expect(filling.value).toEqual(queue);
    tell(end);
    expect(filling.value).toBeNull();
  }
});

import { expect, test } from 'vitest';
import type { DashboardEvent, LabelQueue, LiveSource } from '../../api.ts';
import { answersOf, formatError, QueueStore, sortQueues } from './queue-store.ts';

function queue(id: string, more: Partial<LabelQueue> = {}): LabelQueue {
  const open = { live: false, total: 2, answered: 0, labellers: [], agreement: null };
  const texts = { name: id, question: 'Which?', run: null, next: [] };
  return { id, kind: 'pair', ...texts, ...open, ...more };
}

test('sortQueues() puts queues that a run waits for first and finished ones last', () => {
  const sorted = sortQueues([queue('a', { answered: 2 }), queue('b'), queue('c', { live: true })]);
  expect(sorted.map(({ id }) => id)).toEqual(['c', 'b', 'a']);
});

test('answersOf() counts one labeller’s answers', () => {
  const labellers = [{ name: 'Ada', answers: 3 }];
  expect(answersOf(queue('a', { labellers }), 'Ada')).toBe(3);
  expect(answersOf(queue('a', { labellers }), 'Bob')).toBe(0);
});

test('formatError() returns one line', () => {
  expect(formatError(new Error('a\n  b'))).toBe('a b');
  expect(formatError('c')).toBe('c');
});

/** A source whose events the test controls. */
function createSource() {
  const listeners = new Set<(event: DashboardEvent | { type: 'lost' }) => void>();
  const live = {
    subscribe: (listener: (event: DashboardEvent | { type: 'lost' }) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    queues: async () => [queue('a')],
  } as unknown as LiveSource;
  const send = (event: DashboardEvent | { type: 'lost' }) => {
    for (const listener of listeners) listener(event);
  };
  return { live, send };
}

test('events replace the queues until the store is closed', async () => {
  const { live, send } = createSource();
  const store = new QueueStore(live);
  await store.load();
  send({ type: 'labels', queues: [queue('a'), queue('b')] });
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
  send({ type: 'labels', queues: [] });
  expect(read()).toEqual(all);
});

test('a queue that is being filled is shown until it ends or the connection is lost', () => {
  const { live, send } = createSource();
  const { filling } = new QueueStore(live);
  const queue = { name: 'Fresh', done: 8, total: 10 };
  for (const end of [{ type: 'filling', queue: null }, { type: 'lost' }] as const) {
    send({ type: 'filling', queue });
    expect(filling.value).toEqual(queue);
    send(end);
    expect(filling.value).toBeNull();
  }
});

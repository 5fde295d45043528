import { afterEach, expect, test, vi } from 'vitest';
import { EventFeed } from './event-feed.ts';

/** Stands for the browser's stream, which Node has not got. */
class Stream {
  static all: Stream[] = [];
  onopen = () => {};
  onmessage = (_: { data: string }) => {};
  onerror = () => {};
  isClosed = false;
  constructor() {
    Stream.all.push(this);
  }
  close(): void {
    this.isClosed = true;
  }
}

vi.stubGlobal('EventSource', Stream);
afterEach(() => {
  Stream.all = [];
  vi.useRealTimers();
});

test('who listens is told until the subscription ends, and the stream with the last of them', () => {
  const feed = new EventFeed('api/events');
  const told: string[] = [];
  const endFirst = feed.subscribe(({ type }) => told.push(`first ${type}`));
  const [stream] = Stream.all as [Stream];
  stream.onopen();
  const endSecond = feed.subscribe(({ type }) => told.push(`second ${type}`));
  expect(told.splice(0)).toEqual(['first connected', 'second connected']);
  endFirst();
  endFirst();
  stream.onmessage({ data: '{"type":"reset","run":"a"}' });
  expect(told.splice(0)).toEqual(['second reset']);
  expect(stream.isClosed).toBe(false);
  endSecond();
  expect(stream.isClosed).toBe(true);
  feed.subscribe(({ type }) => told.push(type));
  expect(Stream.all).toHaveLength(2);
  expect(told).toEqual([]);
});

test('a stream that fails is opened again, unless nobody listens by then', () => {
  vi.useFakeTimers();
  const feed = new EventFeed('api/events');
  const end = feed.subscribe(() => {});
  Stream.all[0]!.onerror();
  vi.advanceTimersByTime(500);
  expect(Stream.all).toHaveLength(2);
  Stream.all[1]!.onerror();
  end();
  vi.advanceTimersByTime(10_000);
  expect(Stream.all).toHaveLength(2);
});

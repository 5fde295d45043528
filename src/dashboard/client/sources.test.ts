import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ReportData, SampleRow } from '../api.ts';
import { EventFeed, embeddedSource } from './sources.ts';

const sample = (index: number, score: number): SampleRow => ({
  index,
  step: 1,
  promptIdx: 0,
  sample: 0,
  prompt: 'p',
  response: 'r',
  score,
  sourceScores: null,
  kl: 0,
  length: 1,
  finished: true,
  turns: null,
  hasTokens: false,
});

const report: ReportData = {
  run: {
    id: 'a',
    name: 'a',
    kind: 'ppo',
    status: 'completed',
    step: 1,
    totalSteps: 1,
    startedAt: '2026-01-31T00:00:00Z',
    eta: null,
    message: null,
    phase: null,
    counts: { metrics: 1, samples: 2, evaluations: 0, log: 0 },
    results: {},
    note: '',
    workersAt: null,
  },
  config: { seed: 1 },
  metrics: { steps: [1], columns: { 'objective/kl': [0.5] }, rows: 1 },
  evaluations: [],
  log: [],
  samples: [sample(4, 1), sample(9, 2)],
  tokens: {},
};

describe('embeddedSource()', () => {
  test('answers queries from the embedded data', async () => {
    const page = await embeddedSource(report).samples('a', { sort: 'score', order: 'desc' });
    expect(page.rows.map(({ index }) => index)).toEqual([9, 4]);
  });

  test('reports missing tokens', async () => {
    await expect(embeddedSource(report).tokens('a', 4)).rejects.toThrow(
      'Cannot show the tokens of sample 4: the report does not contain them',
    );
  });

  test('has no live source', () => {
    expect(embeddedSource(report).live).toBeUndefined();
  });
});

/** Replaces the browser's EventSource, which Node does not have. */
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

test('listeners receive events until they unsubscribe, and the last one closes the stream', () => {
  const feed = new EventFeed('api/events');
  const events: string[] = [];
  const endFirst = feed.subscribe(({ type }) => events.push(`first ${type}`));
  const [stream] = Stream.all as [Stream];
  stream.onopen();
  const endSecond = feed.subscribe(({ type }) => events.push(`second ${type}`));
  expect(events.splice(0)).toEqual(['first connected', 'second connected']);
  endFirst();
  endFirst();
  stream.onmessage({ data: '{"type":"reset","run":"a"}' });
  expect(events.splice(0)).toEqual(['second reset']);
  expect(stream.isClosed).toBe(false);
  endSecond();
  expect(stream.isClosed).toBe(true);
  feed.subscribe(({ type }) => events.push(type));
  expect(Stream.all).toHaveLength(2);
  expect(events).toEqual([]);
});

test('a failed stream reconnects unless all listeners are gone', () => {
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

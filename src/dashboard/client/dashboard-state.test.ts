import { signal } from '@preact/signals';
import { expect, test, vi } from 'vitest';
import type { DashboardEvent, DashboardSource, RunSummary } from '../api.ts';
import { DashboardState, reuseEntries, stableList } from './dashboard-state.ts';

const location = { hash: '' };
let goTo!: () => void;
vi.stubGlobal('location', location);
vi.stubGlobal('addEventListener', (_: string, listener: () => void) => {
  goTo = listener;
});
vi.stubGlobal('history', {
  replaceState: (_: null, __: string, hash: string) => {
    location.hash = hash;
  },
});

const runOf = (status: RunSummary['status']) => ({ id: 'a', status }) as RunSummary;

/** A state whose events and first list the test controls. */
function createState() {
  let send!: (event: DashboardEvent) => void;
  let answer!: (runs: RunSummary[]) => void;
  const runs = new Promise<RunSummary[]>((resolve) => {
    answer = resolve;
  });
  const live = { subscribe: (listener: typeof send) => (send = listener) };
  const state = new DashboardState({ runs: () => runs, live } as unknown as DashboardSource);
  const status = () => state.runs.value?.map((run) => run.status);
  const answerWith = async (list: RunSummary[]) => {
    answer(list);
    await runs;
  };
  return { send, answer: answerWith, status, state };
}

test('the first list is shown until an event replaces it', async () => {
  const { send, answer, status } = createState();
  await answer([runOf('running')]);
  expect(status()).toEqual(['running']);
  send({ type: 'runs', runs: [runOf('paused')] });
  expect(status()).toEqual(['paused']);
});

test('a list that arrives after an event is ignored', async () => {
  const { send, answer, status } = createState();
  send({ type: 'runs', runs: [runOf('paused')] });
  await answer([runOf('running')]);
  expect(status()).toEqual(['paused']);
});

const named = (id: string, step = 0) => ({ id, name: id, step, counts: {} }) as RunSummary;

test('ticks and zoom are written to the URL and read from it', async () => {
  const { send, state } = createState();
  send({ type: 'runs', runs: [named('a'), named('b'), named('c')] });
  expect(location.hash).toBe('');
  state.tick('b', true);
  expect(location.hash).toBe('#/runs/a?with=b');
  state.view.range.value = { min: 2, max: 7 };
  expect(location.hash).toBe('#/runs/a?with=b&zoom=2,7');
  expect(state.overviewOf('c')).toBe('#/runs/c?with=b&zoom=2,7');
  location.hash = '#/runs/c?with=a';
  goTo();
  expect(state.drawn.value.map(({ id }) => id)).toEqual(['a', 'c']);
  expect(state.view.range.value).toBeUndefined();
  location.hash = '#/runs/c/samples';
  goTo();
  state.tick('b', true);
  expect(location.hash).toBe('#/runs/c/samples');
  expect(state.overviewOf('c')).toBe('#/runs/c?with=a,b');
  location.hash = '';
});

test('the drawn runs do not change when only their steps do', () => {
  const { send, state } = createState();
  send({ type: 'runs', runs: [named('a'), named('b')] });
  const [names, drawn, [, b]] = [state.names.value, state.drawn.value, state.runs.value!];
  send({ type: 'runs', runs: [named('a', 1), named('b')] });
  expect(state.run.value!.step).toBe(1);
  expect(state.runs.value![1]).toBe(b);
  expect([state.names.value, state.drawn.value]).toEqual([names, drawn]);
  expect(state.names.value).toBe(names);
  expect(state.drawn.value).toBe(drawn);
});

test('reuseEntries() keeps equal entries', () => {
  const [a, b] = [{ id: 1 }, { id: 2 }];
  const [first, second, third] = reuseEntries([a, b], [{ id: 2 }, { id: 3 }, { id: 1 }]);
  expect([first, third]).toEqual([b, a]);
  expect(first).toBe(b);
  expect(third).toBe(a);
  expect(second).toEqual({ id: 3 });
});

test('a stable list changes only if one of its entries does', () => {
  const runs = signal([{ name: 'a', step: 1 }]);
  const names = stableList(() => runs.value.map(({ name }) => ({ name })));
  const first = names.value;
  runs.value = [{ name: 'a', step: 2 }];
  expect(names.value).toBe(first);
  runs.value = [
    { name: 'a', step: 2 },
    { name: 'b', step: 0 },
  ];
  expect(names.value).toEqual([{ name: 'a' }, { name: 'b' }]);
  runs.value = [];
  expect(names.value).toEqual([]);
});

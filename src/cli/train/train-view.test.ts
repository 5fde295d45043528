import { describe, expect, test } from 'vitest';
import { TrainView } from './train-view.ts';

/** A view whose clock stands at `clock.time`, and all that it writes. */
function makeView(terminal: { isTTY?: boolean; columns?: number } = {}) {
  const written: string[] = [];
  const clock = { time: 0 };
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  const view = new TrainView({ output: { write, ...terminal }, now: () => clock.time });
  return { view, written, clock };
}

const metrics = {
  'objective/scores': 0.5,
  'objective/kl': 1.25,
  'policy/entropy_avg': 2,
  'ppo/val/var_explained': 0.75,
  'perf/tokens_per_second': 41.6,
};
const start = { type: 'run-start', step: 0, totalSteps: 10, stepsPerEpoch: 5 } as const;
const step = { type: 'step', step: 2, epoch: 1, metrics, samples: [], tokens: [] } as const;
const phase = { type: 'phase', step: 3, phase: 'generate', done: 1, total: 2 } as const;

describe('TrainView', () => {
  test('writes a line for each step where there is no terminal, with the time that is left', () => {
    const { view, written, clock } = makeView();
    view.handle(start);
    clock.time = 4000;
    view.handle(phase);
    view.handle(step);
    // Two steps in 4 s, so eight more take 16 s.
    expect(written).toEqual([
      'step  2/10  reward 0.500  KL 1.250  entropy 2.000  value EV 0.750  42 tokens/s  16 s left\n',
    ]);
  });

  test('leaves pauses out of the time that is left, but not what people take', () => {
    const { view, written, clock } = makeView();
    const control = (status: 'paused' | 'waiting' | 'running', time: number) => {
      clock.time = time;
      view.handle({ type: 'control', step: 1, status, message: '' });
    };
    view.handle(start);
    control('paused', 1000);
    control('running', 61_000);
    control('waiting', 61_000);
    control('running', 63_000);
    clock.time = 64_000;
    view.handle(step);
    // Two steps in 1 + 3 s besides the minute's pause.
    expect(written[0]).toMatch(/ {2}16 s left\n$/);
  });

  test('writes only some of very many steps, and the last', () => {
    const { view, written } = makeView();
    view.handle({ ...start, totalSteps: 601 });
    for (let i = 1; i <= 601; i++) view.handle({ ...step, step: i });
    expect(written.length).toBe(151);
    expect(written.at(-1)).toMatch(/^step 601\/601 {2}reward/);
  });

  test('on a terminal changes one line, which other lines take away', () => {
    const { view, written, clock } = makeView({ isTTY: true, columns: 60 });
    view.handle(start);
    view.handle(phase);
    view.handle({ ...phase, done: 2 });
    clock.time = 100;
    view.handle({ ...phase, done: 2 });
    view.handle({ type: 'warning', step: 0, message: 'Careful' });
    expect(written).toEqual([
      '\r\x1b[Kstep  3/10  generate ━━━━━─────',
      '\r\x1b[Kstep  3/10  generate ━━━━━━━━━━',
      '\r\x1b[K',
      'Warning: Careful\n',
    ]);
  });

  test('shows as many numbers as the terminal has room for', () => {
    const { view, written } = makeView({ isTTY: true, columns: 60 });
    view.handle(start);
    view.handle(step);
    view.handle(phase);
    expect(written).toEqual(['\r\x1b[Kstep  3/10  generate ━━━━━─────  0 s left  reward 0.500']);
  });

  test('never fills a line, however narrow', () => {
    for (const columns of [5, 20, 31, 32, 33, 80]) {
      const { view, written } = makeView({ isTTY: true, columns });
      view.handle(start);
      view.handle(step);
      view.handle(phase);
      expect(written[0]!.replace('\r\x1b[K', '').length).toBeLessThan(columns);
    }
  });

  test('says where a resumed run goes on', () => {
    const { view, written } = makeView();
    view.handle({ ...start, step: 4 });
    expect(written).toEqual(['Going on after step 4 of 10\n']);
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compareRecordings, readRecording } from './recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'recording-'));
afterAll(() => rmSync(folder, { recursive: true }));

let runs = 0;
/** A run folder with metrics and an adapter. */
function record(metrics: readonly object[], adapter = 'weights') {
  const run = join(folder, `run-${runs++}`);
  mkdirSync(join(run, 'model'), { recursive: true });
  writeFileSync(join(run, 'metrics.jsonl'), metrics.map((row) => JSON.stringify(row)).join('\n'));
  writeFileSync(join(run, 'model/adapter_model.safetensors'), adapter);
  return readRecording(run);
}

test('equal runs have no differences', () => {
  const rows = [{ step: 1, kl: 0.1, tokens: [1, 2], performance: { reward: 0.5 } }];
  expect(compareRecordings(record(rows), record(rows))).toEqual({
    equal: 5,
    added: 0,
    renamed: [],
    differences: [],
  });
});

test('the last bit of a number counts', () => {
  const { differences } = compareRecordings(record([{ kl: 0.3 }]), record([{ kl: 0.1 + 0.2 }]));
  expect(differences).toEqual(['metrics.jsonl: kl: record 0: 0.3 → 0.30000000000000004']);
});

test('times, memory and messages do not count', () => {
  const [before, after] = [1, 2].map((n) =>
    record([{ kl: 0.1, 'timing/step': n, 'perf/rss_mb': n, convergence: { message: `${n}` } }]),
  );
  expect(compareRecordings(before!, after!).differences).toEqual([]);
});

test('a renamed field with equal values is reported as renamed', () => {
  const comparison = compareRecordings(
    record([{ performance: { winRate: 0.25 } }]),
    record([{ performance: { win_rate: 0.25 }, extra: 1 }]),
  );
  expect(comparison).toMatchObject({
    added: 1,
    renamed: ['metrics.jsonl: performance.winRate → performance.win_rate'],
    differences: [],
  });
});

test('a missing field and other weights are differences', () => {
  const { differences } = compareRecordings(record([{ kl: 0.1 }]), record([{ step: 1 }], 'other'));
  expect(differences[0]).toBe('metrics.jsonl: kl: missing');
  expect(differences[1]).toMatch(/^weights: model\/adapter_model.safetensors: record 0/);
});

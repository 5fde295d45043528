import { describe, expect, test } from 'vitest';
import type { SampleRow } from '../api.ts';
import type { ReportData } from '../report/report-data.ts';
import { embeddedSource } from './embedded-source.ts';

const sample = (index: number, score: number): SampleRow => ({
  index,
  step: 1,
  promptIdx: 0,
  sample: 0,
  prompt: 'p',
  response: 'r',
  score,
  kl: 0,
  length: 1,
  finished: true,
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
  },
  config: { seed: 1 },
  metrics: { steps: [1], columns: { 'objective/kl': [0.5] }, rows: 1 },
  evaluations: [],
  log: [],
  samples: [sample(4, 1), sample(9, 2)],
  tokens: {},
};

describe('embeddedSource()', () => {
  test('answers queries from what it carries', async () => {
    const page = await embeddedSource(report).samples('a', { sort: 'score', order: 'desc' });
    expect(page.rows.map(({ index }) => index)).toEqual([9, 4]);
  });

  test('says what it has not got', async () => {
    await expect(embeddedSource(report).tokens('a', 4)).rejects.toThrow(
      'Cannot show the tokens of sample 4: the report has not got them',
    );
  });

  test('cannot be changed', () => {
    expect(embeddedSource(report).live).toBeUndefined();
  });
});

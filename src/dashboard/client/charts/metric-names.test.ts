import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { metricName } from './metric-names.ts';
import { parseMetricNotes } from './metric-notes.ts';

test.each([
  ['objective/scores', 'score'],
  ['rewards/brevity/mean', 'brevity'],
  ['eval/rewards/my/source', 'my/source'],
  ['completions/max_length', 'max'],
  ['timing/generate', 'generate'],
  ['my/new_metric', 'new metric'],
])('metricName(%s) is %s', (metric, name) => {
  expect(metricName(metric)).toBe(name);
});

test('no documented metric has a slash or an underscore in its name', () => {
  const doc = readFileSync(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8');
  const documented = Object.keys(parseMetricNotes(doc)).filter((name) => !name.includes('{'));
  expect(documented.length).toBeGreaterThan(40);
  expect(documented.map(metricName).filter((name) => /[/_]/.test(name))).toEqual([]);
});

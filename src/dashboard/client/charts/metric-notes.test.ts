import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commonUnit, findNote, parseMetricNotes } from './metric-notes.ts';

const table = `# Metrics

| metric | formula | unit | how to read it |
| --- | --- | --- | --- |
| \`lr\` | the rate | — | Falls. |
| \`rewards/{source}/mean\` | mean \\|R\\| | score | |

| other | formula | unit | how to read it |
| --- | --- | --- | --- |
| \`no\` | not one | of | these |
`;

describe('parseMetricNotes()', () => {
  test('reads only the tables of metrics', () => {
    expect(parseMetricNotes(table)).toEqual({
      lr: { formula: 'the rate', unit: '—', reading: 'Falls.' },
      'rewards/{source}/mean': { formula: 'mean |R|', unit: 'score', reading: '' },
    });
  });

  test('reads docs/metrics.md', () => {
    const notes = parseMetricNotes(
      readFileSync(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8'),
    );
    expect(notes['objective/kl_coef']!.formula).toBe("β of this step's rewards");
    expect(notes['policy/approxkl_avg']!.formula).toBe('mean ½(log π_new − log π_old)²');
    expect(findNote(notes, 'rewards/length/std')!.unit).toBe('score');
  });
});

describe('findNote()', () => {
  test('a pattern must match the whole name', () => {
    const notes = parseMetricNotes(table);
    expect(findNote(notes, 'rewards/a/b/mean')!.formula).toBe('mean |R|');
    expect(findNote(notes, 'rewards/mean')).toBeUndefined();
    expect(findNote(notes, 'toString')).toBeUndefined();
  });
});

test('commonUnit() is the unit that all metrics of a chart have', () => {
  const note = (unit: string) => ({ formula: '', unit, reading: '' });
  const notes = { a: note('nats'), b: note('nats'), c: note('score'), d: note('—') };
  expect(commonUnit(notes, ['a', 'b'])).toBe('nats');
  expect([['a', 'c'], ['d'], ['unknown']].map((metrics) => commonUnit(notes, metrics))).toEqual([
    '',
    '',
    '',
  ]);
});

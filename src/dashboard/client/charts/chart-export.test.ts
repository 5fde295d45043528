import { describe, expect, test } from 'vitest';
import { fileName, formatCsv } from './chart-export.ts';

describe('formatCsv()', () => {
  test('writes a line per step and empty cells for missing numbers', () => {
    const csv = formatCsv([
      { name: 'kl', steps: [1, 2], values: [0.5, null] },
      { name: 'eval/kl', steps: [3], values: [1e-7] },
    ]);
    expect(csv).toBe('step,kl,eval/kl\r\n1,0.5,\r\n2,,\r\n3,,1e-7\r\n');
  });

  test('quotes names and escapes formulas', () => {
    const names = ['a,b', 'say "hi"', '=1+1'];
    const csv = formatCsv(names.map((name) => ({ name, steps: [], values: [] })));
    expect(csv).toBe(`step,"a,b","say ""hi""",'=1+1\r\n`);
  });
});

describe('fileName()', () => {
  test('joins words with hyphens', () => {
    const name = fileName(['My run', 'KL to the reference'], 'csv');
    expect(name).toBe('my-run-kl-to-the-reference.csv');
  });

  test('contains no path', () => {
    expect(fileName(['../../etc', 'a\\b\u0000'], 'png')).toBe('etc-a-b.png');
    expect(fileName(['/'], 'png')).toBe('chart.png');
  });
});

import { describe, expect, test } from 'vitest';
import { fileName } from './file-name.ts';

describe('fileName()', () => {
  test('joins words by hyphens', () => {
    const name = fileName(['My run', 'KL to the reference'], 'csv');
    expect(name).toBe('my-run-kl-to-the-reference.csv');
  });

  test('lets no path through', () => {
    expect(fileName(['../../etc', 'a\\b\u0000'], 'png')).toBe('etc-a-b.png');
    expect(fileName(['/'], 'png')).toBe('chart.png');
  });
});

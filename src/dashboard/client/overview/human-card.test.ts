import { expect, test } from 'vitest';
import { describeAgreement } from './human-card.tsx';

test('describeAgreement() names what is known', () => {
  expect(describeAgreement({ agreement: 0.8, alpha: 0.5 })).toBe('on 80.0%, Krippendorff’s α 0.50');
  expect(describeAgreement({ agreement: 1, alpha: null })).toBe('on 100.0%');
  expect(describeAgreement({ agreement: null, alpha: null })).toBe(
    'unknown: no task has answers from several people',
  );
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findNumber } from './find-number.ts';

describe('findNumber()', () => {
  test.each<[string, number | undefined]>([
    ['It costs $1,234.50.', 1234.5],
    ['3 of 4, so 3/4', 0.75],
    ['no number', undefined],
    ['', undefined],
    ['#### -7 (not 8)', -7],
    ['#### 3\n#### $42', 42],
    ['#### **1,000**', 1000],
    ['#### Step 1\nthe answer is 5', 5],
    [String.raw`\boxed{\frac{1}{2}} as in step 3`, 0.5],
    [String.raw`\boxed{1}, no, \boxed{x = -2} at 9`, -2],
    ['1,2', 2],
    ['1,2345', 2345],
    ['12\u202f345', 12345],
    ['-3.5e2', -350],
    ['−5', -5],
    ['3-5', 5],
    ['(2)-5', 5],
    ['.5', 0.5],
    ['50%', 50],
    ['5km', 5],
    ['7 apples in H2O', 7],
    ['2024-05-06', 6],
    ['1e999', undefined],
    ['7, not 5/0', 7],
  ])('in %j is %d', (text, number) => {
    expect(findNumber(text)).toBe(number);
  });

  test('reads back whatever number is written', () => {
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(numbers, (x) => {
        expect(findNumber(`It is ${x}.`)).toBe(x === 0 ? 0 : x);
      }),
    );
  });

  test('reads thousands with commas', () => {
    fc.assert(
      fc.property(fc.integer(), (x) => {
        expect(findNumber(`so ${x.toLocaleString('en-US')}`)).toBe(x);
      }),
    );
  });
});

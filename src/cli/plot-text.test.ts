import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { plotText } from './plot-text.ts';

test('plotText() draws a rising curve from the lower left to the upper right', () => {
  expect(plotText([0, 1], { width: 8, height: 1 })).toEqual(['1.00 │⡠⠊']);
  const lines = plotText([0, 1, 2, 3], { width: 14, height: 2 });
  expect(lines).toEqual(['3.00 │⠀⠀⠀⠀⣀⠤⠒⠉', '0.00 │⣀⠤⠒⠉⠀⠀⠀⠀']);
});

test('plotText() draws any numbers within its width and height', () => {
  const number = fc.double({ min: -1e3, max: 1e3, noNaN: true });
  const size = fc.integer({ min: 1, max: 9 });
  fc.assert(
    fc.property(fc.array(number, { minLength: 1 }), size, (values, height) => {
      const lines = plotText(values, { width: 40, height });
      expect(lines).toHaveLength(height);
      for (const line of lines) expect(line).toHaveLength(40);
    }),
  );
});

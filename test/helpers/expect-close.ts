import { expect } from 'vitest';

interface Comparison {
  readonly expected: ArrayLike<number>;
  /** Largest |actual − expected| / max(1, |expected|). */
  readonly within: number;
  /** What is compared, for the message. */
  readonly label: string;
}

/** Compares element by element: absolute for small numbers, relative for large ones. */
export function expectClose(
  actual: ArrayLike<number>,
  { expected, within, label }: Comparison,
): void {
  expect(actual.length, `number of elements of ${label}`).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    const [got, wanted] = [actual[i]!, expected[i]!];
    const error = Math.abs(got - wanted) / Math.max(1, Math.abs(wanted));
    // Written so that a NaN fails too.
    if (!(error <= within)) {
      expect.fail(`${label}[${i}] is ${got}, expected ${wanted} within ${within}`);
    }
  }
}

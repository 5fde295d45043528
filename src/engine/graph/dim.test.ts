import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assertDim,
  type Dim,
  dimAdd,
  dimMul,
  dimSub,
  evaluateDim,
  formatShape,
  isSymbol,
  sameShape,
  sizeOf,
  termsOf,
} from './dim.ts';

const SYMBOLS = ['B', 'M', 'T', 'kv_1'];

const symbols = fc.constantFrom(...SYMBOLS);
const numbers = fc.integer({ min: -5, max: 5 });
/** Sums of up to four products of up to three symbols, with whole coefficients. */
const dims: fc.Arbitrary<Dim> = fc
  .array(fc.tuple(numbers, fc.array(symbols, { maxLength: 3 })), { maxLength: 4 })
  .map((terms) =>
    terms
      .map(([coefficient, factors]) => factors.reduce<Dim>(dimMul, coefficient))
      .reduce<Dim>(dimAdd, 0),
  );
const bindings = fc.record(
  Object.fromEntries(SYMBOLS.map((symbol) => [symbol, fc.integer({ min: 0, max: 9 })])),
);
const at = (dim: Dim, sizes: Record<string, number>) =>
  evaluateDim(dim, (symbol) => sizes[symbol] as number);
/** The one zero: −0 is the same size. */
const same = (a: Dim, b: Dim) => expect(a === b, `${a} and ${b}`).toBe(true);

describe('polynomials of sizes', () => {
  test('sums and products do not depend on order or grouping', () => {
    fc.assert(
      fc.property(dims, dims, dims, (a, b, c) => {
        same(dimAdd(a, b), dimAdd(b, a));
        same(dimMul(a, b), dimMul(b, a));
        same(dimAdd(dimAdd(a, b), c), dimAdd(a, dimAdd(b, c)));
        same(dimMul(dimMul(a, b), c), dimMul(a, dimMul(b, c)));
      }),
    );
  });

  test('products distribute over sums and differences', () => {
    fc.assert(
      fc.property(dims, dims, dims, (a, b, c) => {
        same(dimMul(a, dimAdd(b, c)), dimAdd(dimMul(a, b), dimMul(a, c)));
        same(dimMul(a, dimSub(b, c)), dimSub(dimMul(a, b), dimMul(a, c)));
      }),
    );
  });

  test('0 and 1 are neutral, 0 times anything is 0, and x − x is 0', () => {
    fc.assert(
      fc.property(dims, dims, (a, b) => {
        same(dimAdd(a, 0), a);
        same(dimMul(a, 1), a);
        same(dimMul(a, 0), 0);
        same(dimSub(a, a), 0);
        same(dimSub(dimAdd(a, b), b), a);
      }),
    );
  });

  test('evaluation commutes with sum, difference and product', () => {
    fc.assert(
      fc.property(dims, dims, bindings, (a, b, sizes) => {
        const [x, y] = [at(a, sizes), at(b, sizes)];
        same(at(dimAdd(a, b), sizes), x + y);
        same(at(dimSub(a, b), sizes), x - y);
        same(at(dimMul(a, b), sizes), x * y);
      }),
    );
  });

  test('every result is canonical: it is accepted and unchanged by adding 0', () => {
    fc.assert(
      fc.property(dims, (a) => {
        if (typeof a === 'string') expect(() => assertDim(a)).not.toThrow();
        same(dimAdd(dimSub(a, 'Z'), 'Z'), a);
      }),
    );
  });

  test.each<[Dim, Dim]>([
    [dimAdd(2, 3), 5],
    [dimMul('T', 'B'), 'B*T'],
    [dimMul('B', 'B'), 'B*B'],
    [dimAdd('T', 'P'), 'P+T'],
    [dimAdd(1, 'T'), 'T+1'],
    [dimSub('T', 1), 'T-1'],
    [dimSub(1, 'T'), '-T+1'],
    [dimSub('P', 'T'), 'P-T'],
    [dimMul(dimAdd('T', 1), 2), '2*T+2'],
    [dimMul(dimAdd('B', 'T'), dimSub('B', 'T')), 'B*B-T*T'],
    [dimMul('B*T', 3), '3*B*T'],
    [dimSub('T+1', 'T'), 1],
    [sizeOf(['B', 4, 'T']), '4*B*T'],
    [sizeOf([2, 3]), 6],
    [sizeOf([]), 1],
    [sizeOf(['B', 0]), 0],
  ])('canonical text: %s is %s', (actual, expected) => {
    expect(actual).toBe(expected);
  });
});

describe('reading sizes', () => {
  test('terms are coefficients with their symbols', () => {
    expect(termsOf('2*B*T-1')).toEqual([
      { coefficient: 2, symbols: ['B', 'T'] },
      { coefficient: -1, symbols: [] },
    ]);
    expect(termsOf('-T+B')).toEqual([
      { coefficient: -1, symbols: ['T'] },
      { coefficient: 1, symbols: ['B'] },
    ]);
    expect(termsOf(7)).toEqual([{ coefficient: 7, symbols: [] }]);
    expect(termsOf(0)).toEqual([]);
  });

  test('evaluation looks up each symbol by name', () => {
    const sizes: Record<string, number> = { B: 3, T: 5 };
    expect(at('2*B*T-T+1', sizes)).toBe(26);
    expect(at(4, sizes)).toBe(4);
    expect(at('Q', sizes)).toBeNaN();
  });

  test('only a bare name is a symbol', () => {
    expect(['T', '_t1', 'kv_len'].filter(isSymbol)).toEqual(['T', '_t1', 'kv_len']);
    expect([3, '2*T', 'T+1', '-T', 'B*T', '1T'].filter(isSymbol)).toEqual([]);
  });

  test('shapes are the same if every axis is', () => {
    expect(sameShape(['B', 2], ['B', 2])).toBe(true);
    expect(sameShape([], [])).toBe(true);
    expect(sameShape(['B', 2], ['B', 3])).toBe(false);
    expect(sameShape(['B'], ['B', 1])).toBe(false);
    expect(sameShape(['B', 1], ['B'])).toBe(false);
  });

  test('shapes print as lists', () => {
    expect(formatShape(['B', 'T+1', 4])).toBe('[B,T+1,4]');
    expect(formatShape([])).toBe('[]');
  });
});

describe('assertDim()', () => {
  test.each<Dim>([0, 3, 'B', 'B*T', 'P+T', '2*T-1', '-T+1'])('accepts %s', (dim) => {
    expect(() => assertDim(dim)).not.toThrow();
  });

  test.each<Dim>([
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    '3',
    'T*B',
    'T+P',
    '1+T',
    '1*T',
    'T+T',
    'T+0',
    '+T',
    'B T',
    '2T',
    '*T',
    'B**T',
    '1.5*T',
    'T?',
  ])('rejects "%s"', (dim) => {
    expect(() => assertDim(dim)).toThrow(
      new RangeError(
        `Cannot use "${dim}" as a size: it must be a whole number ≥ 0 or a canonical sum of products of symbols such as B*T`,
      ),
    );
  });
});

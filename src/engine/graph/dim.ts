/**
 * The size of one axis: a number, or a polynomial over symbols with integer coefficients in
 * canonical text (`B`, `B*T`, `P+T`, `2*T-1`), so that equal sizes are equal strings.
 */
export type Dim = number | string;
/** Sizes of a tensor's axes. */
export type Shape = readonly Dim[];

/** Monomial (symbols sorted and joined by `*`, empty for the constant) → coefficient. */
type Polynomial = Map<string, number>;

/** Sum of two sizes, either of which may be symbolic. */
export function dimAdd(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  const sum = parse(a);
  for (const [monomial, coefficient] of parse(b)) accumulate(sum, monomial, coefficient);
  return format(sum);
}

export function dimMul(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a * b;
  const product: Polynomial = new Map();
  for (const [m, x] of parse(a)) {
    for (const [n, y] of parse(b)) {
      accumulate(product, [...factorsOf(m), ...factorsOf(n)].sort().join('*'), x * y);
    }
  }
  return format(product);
}

export function dimSub(a: Dim, b: Dim): Dim {
  return dimAdd(a, dimMul(b, -1));
}

/** Number of elements of a shape, as a product that may be symbolic. */
export function sizeOf(shape: Shape): Dim {
  return shape.reduce(dimMul, 1);
}

/** Evaluates a size; `bind` returns the value of a symbol. */
export function evaluateDim(dim: Dim, bind: (symbol: string) => number): number {
  if (typeof dim === 'number') return dim;
  let total = 0;
  for (const [monomial, coefficient] of parse(dim)) {
    total += factorsOf(monomial).reduce((product, symbol) => product * bind(symbol), coefficient);
  }
  return total;
}

export interface Term {
  readonly coefficient: number;
  readonly symbols: readonly string[];
}

/** The terms of a size: `2*B*T-1` → 2·[B, T] and −1·[]. */
export function termsOf(dim: Dim): Term[] {
  return [...parse(dim)].map(([monomial, coefficient]) => ({
    coefficient,
    symbols: factorsOf(monomial),
  }));
}

/** The symbols in a size. */
export function symbolsOf(dim: Dim): string[] {
  return termsOf(dim).flatMap(({ symbols }) => symbols);
}

/** Whether a size is a single symbol, which the shape of a feed can bind. */
export function isSymbol(dim: Dim): dim is string {
  return typeof dim === 'string' && /^[A-Za-z_]\w*$/.test(dim);
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, i) => dim === b[i]);
}

export function formatShape(shape: readonly Dim[]): string {
  return `[${shape.join(',')}]`;
}

/** Throws unless the size is in canonical form. */
export function assertDim(dim: Dim): void {
  const valid =
    typeof dim === 'number'
      ? Number.isInteger(dim) && dim >= 0
      : format(parse(dim)) === dim && termsOf(dim).every(({ symbols }) => symbols.every(isSymbol));
  if (!valid) {
    throw new RangeError(
      `Cannot use "${dim}" as a size: it must be a whole number ≥ 0 or a canonical sum of products of symbols such as B*T`,
    );
  }
}

function parse(dim: Dim): Polynomial {
  const polynomial: Polynomial = new Map();
  if (typeof dim === 'number') return accumulate(polynomial, '', dim);
  for (const [, sign, body] of dim.matchAll(/([+-]?)([^+-]+)/g)) {
    const factors = (body ?? '').split('*');
    const numbers = factors.filter((factor) => /^\d+$/.test(factor)).map(Number);
    const coefficient = numbers.reduce((x, y) => x * y, sign === '-' ? -1 : 1);
    const symbols = factors.filter((factor) => !/^\d+$/.test(factor)).sort();
    accumulate(polynomial, symbols.join('*'), coefficient);
  }
  return polynomial;
}

function format(polynomial: Polynomial): Dim {
  const terms = [...polynomial].sort(([a], [b]) => (a === '' ? 1 : b === '' ? -1 : a < b ? -1 : 1));
  if (terms.every(([monomial]) => monomial === '')) return terms[0]?.[1] ?? 0;
  const text = terms.map(([monomial, coefficient]) => {
    const magnitude = Math.abs(coefficient);
    const factors = [
      ...(magnitude === 1 && monomial !== '' ? [] : [magnitude]),
      ...factorsOf(monomial),
    ];
    return (coefficient < 0 ? '-' : '+') + factors.join('*');
  });
  return text.join('').replace(/^\+/, '');
}

function factorsOf(monomial: string): string[] {
  return monomial === '' ? [] : monomial.split('*');
}

function accumulate(polynomial: Polynomial, monomial: string, coefficient: number): Polynomial {
  const sum = (polynomial.get(monomial) ?? 0) + coefficient;
  if (sum === 0) polynomial.delete(monomial);
  else polynomial.set(monomial, sum);
  return polynomial;
}

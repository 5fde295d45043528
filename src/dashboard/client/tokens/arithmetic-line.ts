import { formatNumber } from '../samples/format-number.ts';

/** One equation: a symbol, its formula, the formula with numbers, and what comes out. `_t` and
 *  `_{t+1}` in the texts are subscripts. */
export interface ArithmeticLine {
  readonly name: string;
  readonly formula: string;
  readonly numbers: string;
  readonly result: number;
  /** What the run has written down; undefined where it wrote no such number. */
  readonly stored: number | undefined;
  /** Whether the two are further apart than rounding. */
  readonly differs: boolean;
  readonly remark: string | undefined;
}

/** Difference from the stored number that rounding does not explain; relative for numbers above 1,
 *  which float32 rounds more coarsely. */
const TOLERANCE = 1e-3;

/** A line from its parts, compared with the stored number.
 *  @example result 0.5, stored 0.5005  →  agrees;  stored 0.502  →  differs */
export function lineOf({
  result = Number.NaN,
  stored,
  remark,
  ...texts
}: Pick<ArithmeticLine, 'name' | 'formula' | 'numbers'> & {
  readonly result: number | undefined;
  readonly stored?: number | undefined;
  readonly remark?: string | undefined;
}): ArithmeticLine {
  const size = Math.max(1, Math.abs(stored ?? 0));
  const differs = stored !== undefined && Math.abs(result - stored) > TOLERANCE * size;
  return { ...texts, result, stored, differs, remark };
}

/** A formula with numbers in its places; a negative one is in brackets where a sign comes before it.
 *  @example written`${1} − ${-2}`  →  '1 − (−2)' */
export function written(
  parts: TemplateStringsArray,
  ...values: readonly (number | string | null | undefined)[]
): string {
  return parts.reduce((text, part, i) => {
    const value = values[i - 1];
    if (typeof value === 'string') return text + value + part;
    const needsBrackets = /[−+·] ?$/.test(text) && typeof value === 'number' && value < 0;
    const number = formatNumber(value);
    return text + (needsBrackets ? `(${number})` : number) + part;
  });
}

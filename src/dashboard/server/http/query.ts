import type { HonoRequest } from 'hono';
import { Refusal } from './refusal.ts';

/** Turns the text of a parameter into its value; undefined where it cannot be one. */
export interface QueryField<T> {
  readonly rule: string;
  parse(text: string): T | undefined;
}

export function wholeNumber(min: number, max: number): QueryField<number> {
  return {
    rule: `a whole number from ${min} to ${max}`,
    parse: (text) => (/^\d{1,15}$/.test(text) ? within(Number(text), min, max) : undefined),
  };
}

export function anyNumber(): QueryField<number> {
  return {
    rule: 'a number',
    parse: (text) =>
      /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
        ? within(Number(text), -Number.MAX_VALUE, Number.MAX_VALUE)
        : undefined,
  };
}

export function shortText(longest: number): QueryField<string> {
  return {
    rule: `a text of at most ${longest} characters`,
    parse: (text) => (text.length <= longest ? text : undefined),
  };
}

export function oneOf<const T extends string>(...names: readonly T[]): QueryField<T> {
  return {
    rule: `one of ${names.join(', ')}`,
    parse: (text) => names.find((name) => name === text),
  };
}

type Values<F> = { [K in keyof F]?: F[K] extends QueryField<infer T> ? T : never };

/** The parameters of a request, each by its field; unknown ones are refused. */
export function readQuery<F extends Readonly<Record<string, QueryField<unknown>>>>(
  req: HonoRequest,
  fields: F,
): Values<F> {
  const { token: _, ...given } = req.query();
  const values = Object.entries(given).map(([name, text]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      const known = Object.keys(fields).join(', ');
      throw new Refusal(400, `There is no parameter ${show(name)}; there are ${known}`);
    }
    const value = field.parse(text);
    if (value !== undefined) return [name, value];
    throw new Refusal(400, `Cannot use "${name}": it must be ${field.rule}, got ${show(text)}`);
  });
  return Object.fromEntries(values) as Values<F>;
}

function within(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

function show(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

import { z } from 'zod';

/** One field of a flat config, for flags, errors and docs. */
export interface ConfigField {
  readonly key: string;
  readonly type: 'integer' | 'number' | 'boolean' | 'string' | 'array';
  readonly description: string;
  readonly default: unknown;
  /** The allowed values, if they can be listed. */
  readonly choices: readonly string[] | undefined;
  /** The rule for a value, to follow "must be": `a whole number ≥ 1`. */
  readonly rule: string;
  /** Type and rule of the entries of a list. */
  readonly items: Pick<ConfigField, 'type' | 'rule'> | undefined;
  /** Whether `\n`, `\t` and `\\` in a flag are a new line, a tab and a backslash. */
  readonly hasEscapes: boolean;
  accepts(value: unknown): boolean;
}

interface JsonSchema {
  readonly type: ConfigField['type'];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  /** The rule in words for a string with a pattern. */
  readonly rule?: string;
  /** Whether flags may contain escape sequences. */
  readonly escapes?: boolean;
  readonly items?: JsonSchema;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

const known = new WeakMap<z.ZodObject, readonly ConfigField[]>();

/** The fields of a flat schema, in order. */
export function configFields(schema: z.ZodObject): readonly ConfigField[] {
  const fields = known.get(schema) ?? listFields(schema);
  known.set(schema, fields);
  return fields;
}

function listFields(schema: z.ZodObject): readonly ConfigField[] {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' });
  return Object.entries(schema.shape).map(([key, field]) => {
    const { type, description = '', default: standard, ...json } = properties[key] as JsonSchema;
    return {
      key,
      type,
      description,
      default: standard,
      choices: json.enum,
      rule: describeRule({ type, ...json }),
      items: json.items && { type: json.items.type, rule: describeRule(json.items) },
      hasEscapes: json.escapes === true,
      accepts: (value) => z.safeParse(field, value).success,
    };
  });
}

function describeRule(json: JsonSchema): string {
  if (json.rule !== undefined) return json.rule;
  if (json.enum !== undefined) return listNames(json.enum);
  switch (json.type) {
    case 'boolean':
      return 'true or false';
    case 'string':
      return json.minLength === undefined ? 'text' : 'text that is not empty';
    case 'array':
      return `a list, each ${json.items === undefined ? 'anything' : describeRule(json.items)}`;
    case 'integer':
      return ['a whole number', describeBounds(json)].join(' ').trim();
    case 'number':
      return ['a number', describeBounds(json)].join(' ').trim();
  }
}

function describeBounds(json: JsonSchema): string {
  const bounds: readonly (readonly [string, number | undefined])[] = [
    ['≥', json.minimum],
    ['>', json.exclusiveMinimum],
    ['≤', json.maximum],
    ['<', json.exclusiveMaximum],
  ];
  return bounds
    .filter(([, bound]) => bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER)
    .map(([sign, bound]) => `${sign} ${bound}`)
    .join(' and ');
}

/** @example ['a', 'b', 'c']  →  'a, b or c' */
function listNames(names: readonly string[]): string {
  return names.length < 2
    ? names.join()
    : `${names.slice(0, -1).join(', ')} or ${names[names.length - 1]}`;
}

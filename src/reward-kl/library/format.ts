import { z } from 'zod';
import { ConfigError } from '../../config/parse-config.ts';
import { messageOf } from '../reward-source.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';
import { requireOptional } from './require-optional.ts';

const text = z.string().min(1);

export const formatOptions = z.strictObject({
  tags: z
    .array(text)
    .default([])
    .describe('Tags that a response consists of, in order, such as think and answer'),
  startsWith: text.optional().describe('Required start of a response, ignoring white space'),
  endsWith: text.optional().describe('Required end of a response, ignoring white space'),
  maxLines: z.int().min(1).optional().describe('Maximum number of non-blank lines; at least one'),
});

/** The tags and rules that a response must follow. */
export type FormatOptions = z.input<typeof formatOptions>;

type Rule = (response: string) => boolean;

/** The fraction of format rules that a response follows, in [0, 1]. Each tag is a rule: it appears
 *  exactly once, as `<tag>…</tag>`, and is not empty. One more rule: the response consists of the tags
 *  in order and nothing else. Every other option is a rule.
 *  @example tags=['think', 'answer']: '<think>2 + 2</think> <answer>4</answer>'  →  1;
 *    '<think>2 + 2</think> 4'  →  ⅓ (the tag think) */
export function format(options: FormatOptions): LibraryReward {
  const rules = createRules(parseOptions(formatOptions, options, { reward: 'format' }));
  if (rules.length === 0) {
    throw new ConfigError(
      'Cannot use the reward format: set tags, startsWith, endsWith or maxLines, got none',
    );
  }
  return function format({ response }) {
    return rules.filter((rule) => rule(response)).length / rules.length;
  };
}

function createRules(options: z.output<typeof formatOptions>): Rule[] {
  const { tags, startsWith, endsWith, maxLines } = options;
  const rules: Rule[] = tags.map((tag) => (response) => hasOnce(response, tag));
  if (tags.length > 0) rules.push((response) => consistsOf(response, tags));
  if (startsWith !== undefined) rules.push((response) => response.trim().startsWith(startsWith));
  if (endsWith !== undefined) rules.push((response) => response.trim().endsWith(endsWith));
  if (maxLines !== undefined) {
    rules.push((response) => {
      const lines = response.split(/\r?\n/).filter((line) => line.trim() !== '').length;
      return lines >= 1 && lines <= maxLines;
    });
  }
  return rules;
}

function hasOnce(response: string, tag: string): boolean {
  const opened = response.split(`<${tag}>`);
  const closed = response.split(`</${tag}>`);
  if (opened.length !== 2 || closed.length !== 2) return false;
  const inside = response.slice(opened[0]!.length + tag.length + 2, closed[0]!.length);
  return inside.trim() !== '';
}

function consistsOf(response: string, tags: readonly string[]): boolean {
  let rest = response.trim();
  for (const tag of tags) {
    const end = rest.indexOf(`</${tag}>`);
    if (!rest.startsWith(`<${tag}>`) || end < 0) return false;
    rest = rest.slice(end + tag.length + 3).trim();
  }
  return rest === '';
}

const fenced = z
  .boolean()
  .default(false)
  .describe('Whether the JSON may be inside a Markdown code block');

export const jsonOptions = z.strictObject({
  type: z
    .enum(['any', 'object', 'array'])
    .default('any')
    .describe('Required type; a bare number is JSON too'),
  fenced,
});

/** Which JSON responses count. */
export type JsonOptions = z.input<typeof jsonOptions>;

/** 1 if a response is JSON and nothing else, else 0.
 *  @example '{"a": 1}'  →  1;  '{a: 1}'  →  0;  type='object': '42'  →  0 */
export function json(options: JsonOptions = {}): LibraryReward {
  const { type, ...reading } = parseOptions(jsonOptions, options, { reward: 'json' });
  return function json({ response }) {
    const parsed = parseJson(response, reading);
    return parsed !== undefined && (type === 'any' || typeOf(parsed.value) === type) ? 1 : 0;
  };
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

export const jsonSchemaOptions = z.strictObject({
  schema: z.string().min(1).describe('JSON file with the schema'),
  fenced,
});

/** The schema that a JSON response must match. */
export interface JsonSchemaOptions extends Omit<z.input<typeof jsonSchemaOptions>, 'schema'> {
  /** A JSON Schema of draft 7, or of 2020-12 if its `$schema` says so. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** 1 if a response is JSON and matches a schema, else 0. The schema's `format` keywords are ignored.
 *  Needs the package ajv.
 *  @example schema={ type: 'object', required: ['age'] }: '{"age": 7}'  →  1;  '{"name": "Ann"}'  →  0 */
export function jsonSchema({ schema, ...options }: JsonSchemaOptions): LibraryReward {
  // The options' own schema is the file's name, which only named rewards have.
  const withFile = { ...options, schema: 'an object' };
  const reading = parseOptions(jsonSchemaOptions, withFile, { reward: 'jsonSchema' });
  const matches = compile(schema);
  return function jsonSchema({ response }) {
    const parsed = parseJson(response, reading);
    return parsed !== undefined && matches(parsed.value) ? 1 : 0;
  };
}

function compile(schema: JsonSchemaOptions['schema']): (value: unknown) => boolean {
  const is2020 = String(schema.$schema ?? '').includes('2020-12');
  const module = requireOptional(is2020 ? 'ajv/dist/2020.js' : 'ajv', { reward: 'jsonSchema' });
  const { default: Ajv } = module as { readonly default: typeof import('ajv').Ajv };
  try {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    return (value) => validate(value) === true;
  } catch (cause) {
    throw new ConfigError(
      `Cannot use the reward jsonSchema: schema must be a JSON Schema (${messageOf(cause)})`,
      { cause },
    );
  }
}

/** The value of a response that is JSON and nothing else; undefined otherwise.
 *  @example '{"a": 1} done'  →  undefined */
function parseJson(
  response: string,
  options: { readonly fenced: boolean },
): { readonly value: unknown } | undefined {
  const block = options.fenced
    ? /^```(?:json)?[^\S\n]*\n([\s\S]*?)\n?```$/i.exec(response.trim())?.[1]
    : undefined;
  try {
    return { value: JSON.parse(block ?? response) };
  } catch {
    return undefined;
  }
}

import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { type ConfigField, configFields } from '../../config/config-fields.ts';
import { ConfigError, nearestName } from '../../config/parse-config.ts';
import { expectRegular } from '../../fs/index.ts';
import { messageOf } from '../reward-source.ts';
import { numericAnswer, numericAnswerOptions, rouge, rougeOptions } from './answer.ts';
import {
  format,
  formatOptions,
  json,
  jsonOptions,
  jsonSchema,
  jsonSchemaOptions,
} from './format.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';
import { sentiment } from './sentiment.ts';
import { keyword, keywordOptions, regex, regexOptions } from './text-content.ts';
import {
  brevity,
  brevityOptions,
  flesch,
  length,
  lengthOptions,
  repetitionPenalty,
  repetitionPenaltyOptions,
} from './text-shape.ts';

export interface NamedReward {
  /** Options that can be written as text. */
  readonly options: z.ZodObject;
  /** Whether it runs regular expressions of the user, which may take forever. */
  readonly hasPatterns: boolean;
  create(options: unknown): LibraryReward;
}

const noOptions = z.strictObject({});

/** The rewards that a command or a config file can name. */
export const namedRewards: Readonly<Record<string, NamedReward>> = {
  brevity: named(brevityOptions, brevity),
  length: named(lengthOptions, length),
  keyword: named(keywordOptions, keyword),
  regex: withPatterns(named(regexOptions, regex)),
  format: named(formatOptions, format),
  repetitionPenalty: named(repetitionPenaltyOptions, repetitionPenalty),
  rouge: named(rougeOptions, rouge),
  flesch: named(noOptions, flesch),
  sentiment: named(noOptions, sentiment),
  json: named(jsonOptions, json),
  jsonSchema: withPatterns(
    named(jsonSchemaOptions, ({ schema, ...options }) =>
      jsonSchema({ ...options, schema: readSchema(schema) }),
    ),
  ),
  numericAnswer: named(numericAnswerOptions, numericAnswer),
};

/** A reward of the library as written on a command line or in a config file. */
export interface NamedRewardSpec {
  readonly name: string;
  /** As text, for `createNamedReward`. */
  readonly options: Readonly<Record<string, string>>;
  readonly weight: number;
}

/** Parses `name`, `name=weight` or `name:option=value,…`; the name of the first option may be omitted,
 *  `weight` may be an option, and `\,` is a comma inside a value.
 *  @example 'flesch=0.5'                     →  flesch, weight ½
 *  @example 'keyword:please,avoid=stupid'    →  keyword, { words: 'please', avoid: 'stupid' }, weight 1
 *  @example 'brevity:target=20,weight=0.5'   →  brevity, { target: '20' }, weight ½
 *  @example 'regex:pattern=^\d{1\,3}$'       →  regex, { pattern: '^\d{1,3}$' }, weight 1 */
export function parseNamedReward(text: string): NamedRewardSpec {
  const [, name = '', separator, rest = ''] = /^([^:=]*)([:=])?(.*)$/s.exec(text) ?? [];
  const [first] = Object.keys(findReward(name)?.options.shape ?? {});
  const parts = separator === ':' ? rest.split(/(?<!\\),/) : [];
  if (first !== undefined && parts[0]?.includes('=') === false) parts[0] = `${first}=${parts[0]}`;
  const entries = parts.map((part) => splitOption(part, text));
  const { weight = separator === '=' ? rest : '1', ...options } = Object.fromEntries(entries);
  return { name, options, weight: parseWeight(weight, text) };
}

/** Creates a reward from its name and its options as text; `|` separates the entries of a list.
 *  @example 'brevity', { target: '20' }                →  brevity({ target: 20 })
 *  @example 'keyword', { words: 'thank you|please' }   →  keyword({ words: ['thank you', 'please'] }) */
export function createNamedReward(
  name: string,
  options: Readonly<Record<string, string>> = {},
): LibraryReward {
  const reward = findReward(name);
  if (reward === undefined) {
    const names = Object.keys(namedRewards);
    const nearest = nearestName(name, names);
    const remedy = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    throw new ConfigError(
      `Cannot use the reward ${name}: it must be one of ${names.join(', ')}${remedy}`,
    );
  }
  const fields = new Map(configFields(reward.options).map((field) => [field.key, field]));
  const values = Object.entries(options).map(([key, text]) => [
    key,
    parseValue(text, fields.get(key)),
  ]);
  return reward.create(parseOptions(reward.options, Object.fromEntries(values), { reward: name }));
}

/** Whether a reward runs regular expressions of the user, which may take forever. */
export function hasPatterns(name: string): boolean {
  return findReward(name)?.hasPatterns ?? false;
}

function findReward(name: string): NamedReward | undefined {
  return Object.hasOwn(namedRewards, name) ? namedRewards[name] : undefined;
}

function named<S extends z.ZodObject>(
  options: S,
  create: (options: z.output<S>) => LibraryReward,
): NamedReward {
  return { options, hasPatterns: false, create: (parsed) => create(parsed as z.output<S>) };
}

function withPatterns(reward: NamedReward): NamedReward {
  return { ...reward, hasPatterns: true };
}

function splitOption(part: string, text: string): [key: string, value: string] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(part) ?? [];
  if (key === undefined || value === undefined) {
    throw new ConfigError(
      `Cannot use the reward ${text}: options must be option=value, separated by commas, got ${JSON.stringify(part)}; write \\, for a comma in a value`,
    );
  }
  return [key.trim(), value.replaceAll('\\,', ',')];
}

function parseWeight(weight: string, text: string): number {
  const value = weight.trim() === '' ? Number.NaN : Number(weight);
  if (Number.isFinite(value)) return value;
  throw new ConfigError(
    `Cannot use the reward ${text}: its weight must be a number, got ${JSON.stringify(weight)}`,
  );
}

/** Converts text to the field's type; other text is unchanged, and the schema reports it. */
function parseValue(text: string, field: ConfigField | undefined): unknown {
  switch (field?.type) {
    case 'integer':
    case 'number':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text);
    case 'array':
      return text.split('|');
    default:
      return text;
  }
}

const schemaFile = z.record(z.string(), z.unknown());

function readSchema(file: string): Record<string, unknown> {
  try {
    expectRegular(file, { stats: statSync(file), action: 'read' });
    return schemaFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new ConfigError(
      `Cannot use the reward jsonSchema: ${file} must be a JSON file with a schema (${messageOf(cause)})`,
      { cause },
    );
  }
}

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type ConfigField, configFields } from '../../config/config-fields.ts';
import { ConfigError, nearestName } from '../../config/parse-config.ts';
import { messageOf } from '../reward-error.ts';
import { brevity, brevityOptions } from './brevity.ts';
import { flesch } from './flesch.ts';
import { format, formatOptions } from './format.ts';
import { json, jsonOptions } from './json.ts';
import { jsonSchema, jsonSchemaOptions } from './json-schema.ts';
import { keyword, keywordOptions } from './keyword.ts';
import { length, lengthOptions } from './length.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';
import { numericAnswer, numericAnswerOptions } from './numeric-answer.ts';
import { regex, regexOptions } from './regex.ts';
import { repetitionPenalty, repetitionPenaltyOptions } from './repetition-penalty.ts';
import { rouge, rougeOptions } from './rouge.ts';
import { sentiment } from './sentiment.ts';

export interface NamedReward {
  /** What can be given as text. */
  readonly options: z.ZodObject;
  make(options: unknown): LibraryReward;
}

const noOptions = z.strictObject({});

/** The rewards that a command or a config file can name. */
export const namedRewards: Readonly<Record<string, NamedReward>> = {
  brevity: named(brevityOptions, brevity),
  length: named(lengthOptions, length),
  keyword: named(keywordOptions, keyword),
  regex: named(regexOptions, regex),
  format: named(formatOptions, format),
  repetitionPenalty: named(repetitionPenaltyOptions, repetitionPenalty),
  rouge: named(rougeOptions, rouge),
  flesch: named(noOptions, flesch),
  sentiment: named(noOptions, sentiment),
  json: named(jsonOptions, json),
  jsonSchema: named(jsonSchemaOptions, ({ schema, ...options }) =>
    jsonSchema({ ...options, schema: readSchema(schema) }),
  ),
  numericAnswer: named(numericAnswerOptions, numericAnswer),
};

/** Makes a reward from its name and its options as text; a list's entries are parted by `|`.
 *  @example 'brevity', { target: '20' }                →  brevity({ target: 20 })
 *  @example 'keyword', { words: 'thank you|please' }   →  keyword({ words: ['thank you', 'please'] }) */
export function makeNamedReward(
  name: string,
  options: Readonly<Record<string, string>> = {},
): LibraryReward {
  const reward = Object.hasOwn(namedRewards, name) ? namedRewards[name] : undefined;
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
    readValue(text, fields.get(key)),
  ]);
  return reward.make(parseOptions(reward.options, Object.fromEntries(values), { reward: name }));
}

function named<S extends z.ZodObject>(
  options: S,
  make: (options: z.output<S>) => LibraryReward,
): NamedReward {
  return { options, make: (given) => make(given as z.output<S>) };
}

/** A text that is no value of the field's type stays as it is: the schema then says what is wrong. */
function readValue(text: string, field: ConfigField | undefined): unknown {
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
    return schemaFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new ConfigError(
      `Cannot use the reward jsonSchema: ${file} must be a JSON file with a schema (${messageOf(cause)})`,
      { cause },
    );
  }
}

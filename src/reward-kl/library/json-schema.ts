import { z } from 'zod';
import { ConfigError } from '../../config/parse-config.ts';
import { messageOf } from '../reward-error.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';
import { fenced, readJson } from './read-json.ts';
import { requireOptional } from './require-optional.ts';

export const jsonSchemaOptions = z.strictObject({
  schema: z.string().min(1).describe('JSON file with the schema'),
  fenced,
});

export interface JsonSchemaOptions extends Omit<z.input<typeof jsonSchemaOptions>, 'schema'> {
  /** A JSON Schema of draft 7, or of 2020-12 if its `$schema` says so. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** 1 for a response that is JSON and fits a schema, else 0. The schema's `format` words are not
 *  checked. Needs the package ajv.
 *  @example schema={ type: 'object', required: ['age'] }: '{"age": 7}'  →  1;  '{"name": "Ann"}'  →  0 */
export function jsonSchema({ schema, ...options }: JsonSchemaOptions): LibraryReward {
  const given = { ...options, schema: 'given' };
  const reading = parseOptions(jsonSchemaOptions, given, { reward: 'jsonSchema' });
  const fits = compile(schema);
  return function jsonSchema({ response }) {
    const read = readJson(response, reading);
    return read !== undefined && fits(read.value) ? 1 : 0;
  };
}

function compile(schema: JsonSchemaOptions['schema']): (value: unknown) => boolean {
  const isNew = String(schema.$schema ?? '').includes('2020-12');
  const loaded = requireOptional(isNew ? 'ajv/dist/2020.js' : 'ajv', { reward: 'jsonSchema' });
  const { default: Ajv } = loaded as { readonly default: typeof import('ajv').Ajv };
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

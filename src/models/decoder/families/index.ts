import { ConfigReader, type DecoderConfig } from '../decoder-config.ts';
import type { Family } from './family.ts';
import { gpt2 } from './gpt2.ts';
import { llama } from './llama.ts';
import { qwen2 } from './qwen2.ts';
import { qwen3 } from './qwen3.ts';

/** Families by `model_type`. To add one, add a file here and a line below. */
const families: Readonly<Record<string, Family>> = { qwen3, qwen2, llama, gpt2 };

/** A model family and its configuration, as read from config.json. */
export interface Architecture {
  readonly family: Family;
  readonly config: DecoderConfig;
}

/** Finds the family of a config.json and reads it. */
export function readArchitecture(
  json: Readonly<Record<string, unknown>>,
  source = 'config.json',
): Architecture {
  const reader = new ConfigReader(json, source);
  const type = reader.string('model_type');
  const family = Object.hasOwn(families, type) ? families[type] : undefined;
  if (family === undefined) {
    throw reader.wrong('model_type', `one of ${Object.keys(families).join(', ')}`);
  }
  return { family, config: family.configure(reader) };
}

/** The config.json with which transformers loads a model of this shape. */
export function describeArchitecture(config: DecoderConfig): Readonly<Record<string, unknown>> {
  const family = families[config.model_type];
  if (family === undefined) throw new Error(`Internal: there is no family ${config.model_type}`);
  return family.describe(config);
}

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { FloatDtype } from '../../base-setup/safetensors/index.ts';
import { readRegularText } from '../../fs/index.ts';
import { type Architecture, readArchitecture } from './families/index.ts';

export type ConfigJson = Readonly<Record<string, unknown>>;

export interface ConfigJsonOptions {
  /** The folder whose config.json is copied; if missing, it is built from the architecture. */
  readonly source?: string | undefined;
  readonly dtype: FloatDtype;
  /** Fields that override those of the source. */
  readonly config: ConfigJson;
}

const torchNames: Readonly<Record<FloatDtype, string>> = {
  F32: 'float32',
  BF16: 'bfloat16',
  F16: 'float16',
};

/** Without these transformers uses default ids: 50256 for GPT-2, 1 and 2 for Llama. */
const noTokens = { bos_token_id: null, eos_token_id: null, pad_token_id: null };

/** The config.json of a language model with these weights. */
export async function buildConfigJson(
  architecture: Architecture,
  { source, dtype, config }: ConfigJsonOptions,
): Promise<ConfigJson> {
  const own = architecture.family.describe(architecture.config);
  const file = source === undefined ? 'config.json' : join(source, 'config.json');
  const original: ConfigJson =
    source === undefined ? { ...noTokens, ...own } : JSON.parse(await readRegularText(file));
  // Old versions of transformers know only torch_dtype, and new ones read it too.
  const keys = 'dtype' in original ? ['dtype'] : ['torch_dtype'];
  if ('torch_dtype' in original) keys.push('torch_dtype');
  const dtypes = Object.fromEntries(keys.map((key) => [key, torchNames[dtype]]));
  const json = { ...original, ...config, architectures: own.architectures, ...dtypes };
  const read = readArchitecture(json, file);
  expectSameModel(read.family.describe(read.config), { own, file });
  return json;
}

function expectSameModel(read: ConfigJson, { own, file }: { own: ConfigJson; file: string }): void {
  for (const key of Object.keys(own)) {
    if (isDeepStrictEqual(read[key], own[key])) continue;
    throw new Error(
      `Cannot save the model with ${file}: "${key}" must be ${JSON.stringify(own[key])} as in the model, got ${JSON.stringify(read[key])}`,
    );
  }
}

/** The generation_config.json that transformers derives from a config.json. */
export function buildGenerationJson(config: ConfigJson): ConfigJson {
  const ids = Object.keys(noTokens).filter(
    (key) => config[key] !== undefined && config[key] !== null,
  );
  return {
    _from_model_config: true,
    ...Object.fromEntries(ids.map((key) => [key, config[key]])),
  };
}

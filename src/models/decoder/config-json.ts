import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { FloatDtype } from '../../base-setup/safetensors/index.ts';
import type { DecoderConfig } from './decoder-config.ts';
import { type Architecture, readArchitecture } from './families/index.ts';

export type ConfigJson = Readonly<Record<string, unknown>>;

export interface ConfigJsonOptions {
  /** The folder whose config.json is taken over; without one it is made from the architecture. */
  readonly source?: string | undefined;
  readonly dtype: FloatDtype;
  /** Fields that go before those of the source. */
  readonly config: ConfigJson;
}

const torchNames: Readonly<Record<FloatDtype, string>> = {
  F32: 'float32',
  BF16: 'bfloat16',
  F16: 'float16',
};

/** The config.json of a language model with these weights. */
export async function makeConfigJson(
  architecture: Architecture,
  { source, dtype, config }: ConfigJsonOptions,
): Promise<ConfigJson> {
  const own = architecture.family.describe(architecture.config);
  const file = source === undefined ? 'config.json' : join(source, 'config.json');
  const given: ConfigJson = source === undefined ? own : JSON.parse(await readFile(file, 'utf8'));
  // Old versions of transformers know only torch_dtype, and all read it.
  const key = 'dtype' in given ? 'dtype' : 'torch_dtype';
  const json = {
    ...given,
    ...config,
    architectures: own.architectures,
    [key]: torchNames[dtype],
  };
  expectSameModel(readArchitecture(json, file).config, { saved: architecture.config, file });
  return json;
}

function expectSameModel(
  described: DecoderConfig,
  { saved, file }: { saved: DecoderConfig; file: string },
): void {
  for (const key of Object.keys(saved) as (keyof DecoderConfig)[]) {
    if (isDeepStrictEqual(described[key], saved[key])) continue;
    throw new Error(
      `Cannot save the model with ${file}: its ${key} must be ${JSON.stringify(saved[key])} as in the model, got ${JSON.stringify(described[key])}`,
    );
  }
}

/** The generation_config.json that transformers makes of a config.json. */
export function makeGenerationJson(config: ConfigJson): ConfigJson {
  const ids = ['bos_token_id', 'eos_token_id', 'pad_token_id'].filter(
    (key) => config[key] !== undefined && config[key] !== null,
  );
  return {
    _from_model_config: true,
    ...Object.fromEntries(ids.map((key) => [key, config[key]])),
  };
}

import type { Tensor } from '../../engine/runtime/index.ts';
import { encodeSafetensors, type WriteOptions } from '../safetensors/writer.ts';
import { type BaseFingerprint, fingerprintMetadata } from './base-fingerprint.ts';
import type { LoraAdapter } from './lora-adapter.ts';
import { matchesModule } from './lora-config.ts';
import { basePrefix, configFileName, tensorFileName } from './peft-config.ts';
import type { AdapterFiles } from './peft-reader.ts';

/** Metadata and extra weights that are written with a PEFT adapter. */
export interface WriteAdapterOptions {
  /** The hub id or folder of the base, from which PEFT's `AutoPeftModel` loads it. */
  readonly baseModelNameOrPath?: string;
  /** `base.fingerprint()` of the base that the adapter was trained over: `readAdapter` then rejects any
   *  other base. */
  readonly fingerprint?: BaseFingerprint;
  /** CAUSAL_LM by default. SEQ_CLS and TOKEN_CLS have a head named `score` in PEFT; in transformers
   *  the head of TOKEN_CLS has a bias, and GPT-2 names it `classifier`. */
  readonly taskType?: 'CAUSAL_LM' | 'SEQ_CLS' | 'TOKEN_CLS';
  /** Weights of a head, by their names in the model, such as `score.weight`. */
  readonly extraTensors?: ReadonlyMap<string, Tensor<'float32'>>;
  /** Whether the base stores its weights as [in, out], as GPT-2 does. */
  readonly fanInFanOut?: boolean;
}

/** The content of the two files of an adapter in PEFT's format. */
export interface EncodedAdapter {
  /** The text of `adapter_config.json`. */
  readonly config: string;
  /** What `adapter_model.safetensors` holds. */
  readonly tensors: WriteOptions;
}

/** Describes an adapter in PEFT's format. */
export function encodeAdapter(
  adapter: LoraAdapter,
  options: WriteAdapterOptions = {},
): EncodedAdapter {
  const tensors = [...adapter.weights, ...(options.extraTensors ?? [])].map(
    ([name, { shape, data }]) => ({ name: `${basePrefix}${name}`, shape, data }),
  );
  const metadata = fingerprintMetadata(options.fingerprint);
  const config = JSON.stringify(describeAdapter(adapter, options), undefined, 2);
  return { config: `${config}\n`, tensors: { tensors, stream: tensors, metadata } };
}

/** The files of an adapter in PEFT's format, in memory. */
export async function adapterToFiles(
  adapter: LoraAdapter,
  options: WriteAdapterOptions = {},
): Promise<AdapterFiles> {
  const { config, tensors } = encodeAdapter(adapter, options);
  return {
    [configFileName]: new TextEncoder().encode(config),
    [tensorFileName]: await encodeSafetensors(tensors),
  };
}

/** The keys that every version of PEFT knows, in its order; PEFT fills in the others. */
function describeAdapter(adapter: LoraAdapter, options: WriteAdapterOptions) {
  const { r, lora_alpha, lora_dropout = 0, use_rslora = false } = adapter.config;
  const { layers_to_transform: layers = null } = adapter.config;
  const heads = [...(options.extraTensors?.keys() ?? [])].map((name) =>
    name.slice(0, name.lastIndexOf('.')),
  );
  return {
    alpha_pattern: {},
    auto_mapping: null,
    base_model_name_or_path: options.baseModelNameOrPath ?? null,
    bias: 'none',
    fan_in_fan_out: options.fanInFanOut ?? false,
    inference_mode: true,
    init_lora_weights: true,
    layers_pattern: null,
    layers_to_transform: layers,
    lora_alpha,
    lora_dropout,
    modules_to_save: heads.length === 0 ? null : [...new Set(heads)],
    peft_type: 'LORA',
    r,
    rank_pattern: {},
    revision: null,
    target_modules: listTargets(adapter),
    task_type: options.taskType ?? 'CAUSAL_LM',
    use_dora: false,
    use_rslora,
  };
}

/** Always a list of names: with all-linear and TOKEN_CLS, PEFT would count the head as a linear module. */
function listTargets(adapter: LoraAdapter): readonly string[] {
  const { target_modules: targets = 'all-linear' } = adapter.config;
  const modules = adapter.modules();
  if (targets !== 'all-linear') {
    return targets.filter((target) => modules.some((module) => matchesModule(target, module)));
  }
  return [...new Set(modules.map((module) => module.slice(module.lastIndexOf('.') + 1)))];
}

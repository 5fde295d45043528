import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tensor } from '../../engine/runtime/index.ts';
import { writeAtomically } from '../../fs/index.ts';
import { writeSafetensors } from '../safetensors/index.ts';
import type { LoraAdapter } from './lora-adapter.ts';
import { namesModule } from './lora-config.ts';
import { configFileName } from './peft-config.ts';
import { basePrefix, tensorFileName } from './peft-tensors.ts';

export interface WriteAdapterOptions {
  /** The hub id or the folder of the base; PEFT's `AutoPeftModel` loads it from there. */
  readonly baseModelNameOrPath?: string;
  /** CAUSAL_LM by default. PEFT gives SEQ_CLS and TOKEN_CLS a head named `score`; in transformers
   *  that of TOKEN_CLS has a bias, and GPT-2's is named `classifier`. */
  readonly taskType?: 'CAUSAL_LM' | 'SEQ_CLS' | 'TOKEN_CLS';
  /** Weights of a head by their names in the model, such as `score.weight`. */
  readonly extraTensors?: ReadonlyMap<string, Tensor<'float32'>>;
  /** Whether the base keeps its weights as [in, out], as GPT-2 does. */
  readonly fanInFanOut?: boolean;
}

/** Writes an adapter as PEFT saves it. The config is put in place last. */
export async function writeAdapter(
  folder: string,
  adapter: LoraAdapter,
  options: WriteAdapterOptions = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const tensors = [...adapter.weights, ...(options.extraTensors ?? [])].map(
    ([name, { shape, data }]) => ({ name: `${basePrefix}${name}`, shape, data }),
  );
  await writeSafetensors(join(folder, tensorFileName), { tensors, stream: tensors });
  const config = JSON.stringify(describeAdapter(adapter, options), undefined, 2);
  await writeAtomically(join(folder, configFileName), `${config}\n`);
}

/** The keys that PEFT has had from early on, in its order; it fills in the others. */
function describeAdapter(adapter: LoraAdapter, options: WriteAdapterOptions) {
  const { r, lora_alpha, lora_dropout = 0, use_rslora = false } = adapter.config;
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
    layers_to_transform: null,
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

/** Names, also for all-linear: with TOKEN_CLS PEFT would count the head among the linear modules. */
function listTargets(adapter: LoraAdapter): readonly string[] {
  const { target_modules: targets = 'all-linear' } = adapter.config;
  const modules = adapter.modules();
  if (targets !== 'all-linear') {
    return targets.filter((target) => modules.some((module) => namesModule(target, module)));
  }
  return [...new Set(modules.map((module) => module.slice(module.lastIndexOf('.') + 1)))];
}

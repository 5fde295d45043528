import { fileURLToPath } from 'node:url';
import type { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import { readAdapter } from '../../src/base-setup/lora/peft-files.ts';
import type { PeftAdapter } from '../../src/base-setup/lora/peft-reader.ts';
import type { Tensor } from '../../src/engine/runtime/index.ts';
import type { BaseModel } from '../../src/models/decoder/base-model.ts';
import { forward } from '../../src/models/decoder/forward.ts';
import { loadBase, readConfig } from '../../src/models/decoder/load-model.ts';
import { PackedBatch } from '../../src/models/decoder/packed-batch.ts';
import { readSafetensors } from './runtime-safetensors.ts';

export const peftFamilies = ['qwen3', 'llama', 'gpt2'] as const;

export type PeftFamily = (typeof peftFamilies)[number];

/** The adapters of a family: on all layers, with a head, on the upper layer only. */
type PeftName = 'adapter' | 'reward' | 'layers';

/** A folder of test/fixtures/peft, written by tools/oracle/peft/make_goldens.py. */
export function peftFolder(family: PeftFamily, name: 'base' | PeftName): string {
  return fileURLToPath(new URL(`../fixtures/peft/${family}/${name}`, import.meta.url));
}

interface PeftGolden extends PeftAdapter {
  readonly base: BaseModel;
  readonly sequences: readonly (readonly number[])[];
  /** `base`, `adapter`, `merged` and `layers`: logits of all tokens, sequence by sequence. */
  readonly expected: Readonly<Record<string, Tensor<'float32'>>>;
}

/** A tiny model, an adapter that PEFT saved, and what transformers and PEFT compute with them. */
export async function readPeftGolden(
  family: PeftFamily,
  name: PeftName = 'adapter',
): Promise<PeftGolden> {
  const base = await openModel(peftFolder(family, 'base'));
  const file = new URL(`../fixtures/peft/${family}/expected.safetensors`, import.meta.url);
  const { about, tensors } = readSafetensors(file);
  const peft = await readAdapter(peftFolder(family, name), base);
  return { ...peft, base, sequences: JSON.parse(about).sequences, expected: tensors };
}

/** A model without its tokenizer. */
export async function openModel(folder: string): Promise<BaseModel> {
  return loadBase(folder, await readConfig(folder));
}

/** Logits of all tokens, sequence by sequence. */
export async function computeLogits(
  base: BaseModel,
  sequences: readonly (readonly number[])[],
  adapter?: LoraAdapter,
): Promise<Float32Array> {
  const { hidden } = await forward({ base, adapter }, new PackedBatch(sequences));
  return (await base.logits(hidden)).data;
}

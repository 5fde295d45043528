import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathExists, readTextIfExists, writeAtomically } from '../../fs/index.ts';
import { openSafetensors } from '../safetensors/open-weights.ts';
import { writeSafetensors } from '../safetensors/writer-files.ts';
import type { AdapterBase } from './base-fingerprint.ts';
import type { LoraAdapter } from './lora-adapter.ts';
import { configFileName, type PeftConfig, parsePeftConfig, tensorFileName } from './peft-config.ts';
import { decodeAdapter, type PeftAdapter } from './peft-reader.ts';
import { encodeAdapter, type WriteAdapterOptions } from './peft-writer.ts';

/** Reads a LoRA adapter that PEFT or `writeAdapter` saved, over the base that it was trained on.
 *  @example
 *  const { base } = await loadModel('Qwen/Qwen3-0.6B');
 *  const { adapter } = await readAdapter('my-adapter', base); */
export async function readAdapter(folder: string, base: AdapterBase): Promise<PeftAdapter> {
  const config = await readPeftConfig(folder);
  const tensors = await openSafetensors(await findTensors(folder));
  try {
    return await decodeAdapter({ name: folder, config, tensors }, base);
  } finally {
    await tensors.close();
  }
}

/** Reads and checks the `adapter_config.json` in a folder. */
export async function readPeftConfig(folder: string): Promise<PeftConfig> {
  const file = join(folder, configFileName);
  const text = await readTextIfExists(file);
  if (text === undefined) {
    throw new Error(
      `Cannot read the adapter ${folder}: it must have ${configFileName}, got no such file`,
    );
  }
  return parsePeftConfig(text, file);
}

async function findTensors(folder: string): Promise<string> {
  const file = join(folder, tensorFileName);
  if (await pathExists(file)) return file;
  const hasPickle = await pathExists(join(folder, 'adapter_model.bin'));
  throw new Error(
    `Cannot read the adapter ${folder}: it must have ${tensorFileName}, got ${hasPickle ? 'adapter_model.bin; save it again with a newer PEFT' : 'no such file'}`,
  );
}

/** Writes an adapter in PEFT's format. The config is written last, so a folder with a config is complete. */
export async function writeAdapter(
  folder: string,
  adapter: LoraAdapter,
  options: WriteAdapterOptions = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { config, tensors } = encodeAdapter(adapter, options);
  await writeSafetensors(join(folder, tensorFileName), tensors);
  await writeAtomically(join(folder, configFileName), config);
}

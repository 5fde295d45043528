import { basename } from 'node:path';
import { SafetensorsReader } from '../../base-setup/safetensors/index.ts';
import type { DecoderConfig } from '../../models/decoder/decoder-config.ts';
import { readConfig } from '../../models/decoder/load-model.ts';
import { countParameters, type ParameterCounts } from '../../models/decoder/parameter-counts.ts';
import { estimateMemory, type MemoryEstimate } from './memory-estimate.ts';

/** Everything that `proximal inspect` tells about a model. */
export interface ModelReport {
  readonly model: string;
  readonly folder: string;
  readonly architecture: DecoderConfig;
  readonly parameters: ParameterCounts;
  readonly files: readonly WeightFile[];
  readonly memory: MemoryEstimate;
}

/** A file of weights: the bytes of its tensors, by dtype. */
export interface WeightFile {
  readonly name: string;
  readonly bytes: number;
  readonly dtypes: Readonly<Record<string, number>>;
}

/** Describes a model by its config.json and the headers of its weights, which are not read. */
export async function reportModel(model: string, folder: string): Promise<ModelReport> {
  const architecture = await readConfig(folder);
  const parameters = countParameters(architecture);
  return {
    model,
    folder,
    architecture: architecture.config,
    parameters,
    files: await listFiles(folder),
    memory: estimateMemory(architecture, parameters),
  };
}

async function listFiles(folder: string): Promise<WeightFile[]> {
  const reader = await SafetensorsReader.open(folder);
  await reader.close();
  const files = new Map<string, Record<string, number>>();
  for (const { file, dtype, length } of reader.tensors) {
    const dtypes = files.get(file) ?? {};
    dtypes[dtype] = (dtypes[dtype] ?? 0) + length;
    files.set(file, dtypes);
  }
  return [...files].map(([file, dtypes]) => ({
    name: basename(file),
    bytes: Object.values(dtypes).reduce((sum, bytes) => sum + bytes, 0),
    dtypes,
  }));
}

import { openSafetensors, writeSafetensors } from '../base-setup/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';

/** Writes arrays as a safetensors file. */
export async function writeArrays(file: string, arrays: NamedArrays): Promise<void> {
  const tensors = Object.entries(arrays).map(([name, data]) => ({
    name,
    shape: [data.length],
    data,
  }));
  await writeSafetensors(file, { tensors, stream: tensors });
}

/** Reads what `writeArrays` wrote. */
export async function readArrays(file: string): Promise<Record<string, Float32Array>> {
  const reader = await openSafetensors(file);
  try {
    const arrays: Record<string, Float32Array> = {};
    for (const { name } of reader.tensors) arrays[name] = await reader.read(name);
    return arrays;
  } finally {
    await reader.close();
  }
}

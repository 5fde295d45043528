import { SafetensorsReader, writeSafetensors } from '../base-setup/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';

/** Saves a checkpoint: `write` fills the folder that it receives. Returns the final folder. */
export type SaveCheckpoint = (
  write: (folder: string) => Promise<void>,
  about: { readonly step: number; readonly isBest: boolean },
) => Promise<string>;

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
  const reader = await SafetensorsReader.open(file);
  try {
    const arrays: Record<string, Float32Array> = {};
    for (const { name } of reader.tensors) arrays[name] = await reader.read(name);
    return arrays;
  } finally {
    await reader.close();
  }
}

/** Keys that may change: the model may have moved, the run may be extended, or continue on another device. */
const changeableKeys: ReadonlySet<string> = new Set([
  'modelName',
  'device',
  'numEpochs',
  'maxSteps',
  'totalSteps',
]);

/** Requires the hyper-parameters that the run started with. */
export function expectSameConfig(saved: Readonly<Record<string, unknown>>, config: object): void {
  const now: Record<string, unknown> = JSON.parse(JSON.stringify(config));
  for (const key of new Set([...Object.keys(saved), ...Object.keys(now)])) {
    const [before, after] = [JSON.stringify(saved[key]), JSON.stringify(now[key])];
    if (before === after || changeableKeys.has(key)) continue;
    throw new Error(
      `Cannot resume: ${key} must be ${before} as when the run started, got ${after}; use that value or start a new run`,
    );
  }
}

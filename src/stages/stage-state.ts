import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJsonObject, writeAtomically } from '../fs/index.ts';
import { expectSameConfig, readArrays, writeArrays } from '../ppo-trainer/saved-arrays.ts';
import type { RoleOptimizer } from '../training/index.ts';

/** Weights that a stage trains, and their moments. */
export interface StageWeights {
  readonly optimizer: RoleOptimizer;
  /** Arrays that are trained in place, by name. */
  readonly parameters: Readonly<Record<string, Float32Array>>;
}

const stateSchema = z.strictObject({
  step: z.int().min(0),
  validatedStep: z.int().min(-1),
  best: z.number().nullable(),
  optimizerStep: z.int().min(0),
  config: z.record(z.string(), z.unknown()),
});

export type StageProgress = Omit<z.output<typeof stateSchema>, 'optimizerStep' | 'config'>;

const files = { weights: 'weights.safetensors', moments: 'optimizer.safetensors' };

/** Writes all that a stage needs to go on exactly. */
export async function saveStageState(
  folder: string,
  { parameters, optimizer }: StageWeights,
  { progress, config }: { progress: StageProgress; config: object },
): Promise<void> {
  const { step, tensors } = optimizer.state();
  await writeArrays(join(folder, files.weights), parameters);
  await writeArrays(join(folder, files.moments), tensors);
  const state = { ...progress, optimizerStep: step, config };
  await writeAtomically(join(folder, 'state.json'), `${JSON.stringify(state, undefined, 2)}\n`);
}

/** Takes over what `saveStageState` wrote, into the arrays that are there. */
export async function loadStageState(
  folder: string,
  { parameters, optimizer }: StageWeights,
  config: object,
): Promise<StageProgress> {
  const file = join(folder, 'state.json');
  const parsed = stateSchema.safeParse(parseJsonObject(await readFile(file, 'utf8'), file));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(
      `Cannot resume from ${file}: "${issue!.path.join('.')}" must be as this version writes it (${issue!.message}); choose another checkpoint`,
    );
  }
  const { optimizerStep, config: saved, ...progress } = parsed.data;
  expectSameConfig(saved, config);
  const weights = await readArrays(join(folder, files.weights));
  for (const [name, array] of Object.entries(parameters)) {
    const values = weights[name];
    if (values?.length !== array.length) {
      throw new Error(
        `Cannot resume from ${folder}: "${name}" must have ${array.length} numbers, got ${values?.length ?? 'none'}; choose a checkpoint of this model`,
      );
    }
    array.set(values);
  }
  optimizer.restore({
    step: optimizerStep,
    tensors: await readArrays(join(folder, files.moments)),
  });
  return progress;
}

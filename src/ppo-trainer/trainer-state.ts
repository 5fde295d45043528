import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { SafetensorsReader, writeSafetensors } from '../base-setup/index.ts';
import { parseJsonObject } from '../base-setup/parse-json-object.ts';
import { writeAtomically } from '../base-setup/safetensors/atomic-file.ts';
import type { RoleOptimizer } from '../training/index.ts';
import type { Components } from './components.ts';
import { checkpointFolders, loadRoles, saveRoles } from './saved-roles.ts';

/** What a run remembers besides weights and moments. */
const progressSchema = z.strictObject({
  /** Steps that are done. */
  step: z.int().min(0),
  /** Responses that were learned from. */
  episodes: z.int().min(0),
  /** Step of the last evaluation, −1 if there was none. */
  evaluatedStep: z.int().min(-1),
  /** What makes the run what it is, to be compared on resuming. */
  config: z.record(z.string(), z.unknown()),
  optimizerSteps: z.array(z.int().min(0)),
  rewards: z.unknown(),
  convergence: z.unknown(),
  epoch: z.record(z.string(), z.tuple([z.number(), z.number()])),
});

type SavedProgress = z.output<typeof progressSchema>;

export type TrainerProgress = Omit<SavedProgress, 'optimizerSteps' | 'config'>;

/** Writes all that a run needs to go on exactly: adapters as PEFT folders, moments, and the rest. */
export async function saveState(
  folder: string,
  components: Components,
  progress: TrainerProgress,
): Promise<void> {
  await saveRoles(components, checkpointFolders(folder));
  const optimizerSteps: number[] = [];
  for (const [name, optimizer] of optimizersOf(components)) {
    const { step, tensors } = optimizer.state();
    optimizerSteps.push(step);
    const arrays = Object.entries(tensors).map(([moment, data]) => ({
      name: moment,
      shape: [data.length],
      data,
    }));
    await writeSafetensors(join(folder, name), { tensors: arrays, stream: arrays });
  }
  const state: SavedProgress = { ...progress, config: components.config, optimizerSteps };
  await writeAtomically(join(folder, 'state.json'), `${JSON.stringify(state, undefined, 2)}\n`);
}

/** Takes over what `saveState` wrote, into the weights and moments that are there. */
export async function loadState(folder: string, components: Components): Promise<TrainerProgress> {
  const { optimizerSteps, config, ...progress } = await readProgress(join(folder, 'state.json'));
  expectSameConfig(config, components.config);
  await loadRoles(components, checkpointFolders(folder));
  for (const [k, [name, optimizer]] of optimizersOf(components).entries()) {
    optimizer.restore({ step: optimizerSteps[k]!, tensors: await readArrays(join(folder, name)) });
  }
  return progress;
}

function optimizersOf({ modelTrainer }: Components): [string, RoleOptimizer][] {
  const { policyOptimizer, valueOptimizer } = modelTrainer;
  const policy: [string, RoleOptimizer] = ['policy-optimizer.safetensors', policyOptimizer];
  return valueOptimizer === undefined
    ? [policy]
    : [policy, ['value-optimizer.safetensors', valueOptimizer]];
}

async function readProgress(file: string): Promise<SavedProgress> {
  const { success, data, error } = progressSchema.safeParse(
    parseJsonObject(await readFile(file, 'utf8'), file),
  );
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(
    `Cannot resume from ${file}: "${issue!.path.join('.')}" must be as this version writes it (${issue!.message}); choose another checkpoint`,
  );
}

/** A run goes on with the hyper-parameters that it began with; where its model lies may change. */
function expectSameConfig(saved: Readonly<Record<string, unknown>>, config: object): void {
  const now: Record<string, unknown> = JSON.parse(JSON.stringify(config));
  for (const key of new Set([...Object.keys(saved), ...Object.keys(now)])) {
    const [before, after] = [JSON.stringify(saved[key]), JSON.stringify(now[key])];
    if (before === after || key === 'modelName') continue;
    throw new Error(
      `Cannot resume: ${key} must be what the run began with, ${before}, got ${after}; use that or start a new run`,
    );
  }
}

async function readArrays(file: string): Promise<Record<string, Float32Array>> {
  const reader = await SafetensorsReader.open(file);
  try {
    const arrays: Record<string, Float32Array> = {};
    for (const { name } of reader.tensors) arrays[name] = await reader.read(name);
    return arrays;
  } finally {
    await reader.close();
  }
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJsonObject, writeAtomically } from '../fs/index.ts';
import type { RoleOptimizer } from '../training/index.ts';
import type { Components } from './components.ts';
import { type Metrics, stopReasons } from './records.ts';
import { expectSameConfig, readArrays, writeArrays } from './saved-arrays.ts';
import { checkpointFolders, loadRoles, saveRoles } from './saved-roles.ts';

/** What a run remembers besides weights and moments. */
const progressSchema = z.strictObject({
  /** Steps that are done. */
  step: z.int().min(0),
  /** Responses that were learned from. */
  episodes: z.int().min(0),
  /** Step of the last evaluation, −1 if there was none. */
  evaluatedStep: z.int().min(-1),
  /** Why the run ended, if a rule of the evaluator ended it. */
  stop: z.strictObject({ reason: z.enum(stopReasons), message: z.string() }).nullable(),
  /** Of the last step or epoch; null is NaN. */
  metrics: z.record(z.string(), z.number().nullable()),
  /** What makes the run what it is, to be compared on resuming. */
  config: z.record(z.string(), z.unknown()),
  optimizerSteps: z.array(z.int().min(0)),
  rewards: z.unknown(),
  convergence: z.unknown(),
  epoch: z.record(z.string(), z.tuple([z.number(), z.number()])),
});

type SavedProgress = z.output<typeof progressSchema>;

export interface TrainerProgress
  extends Omit<SavedProgress, 'optimizerSteps' | 'config' | 'metrics'> {
  readonly metrics: Metrics;
}

/** What must be as it was saved. */
type Identity = Readonly<Record<string, unknown>>;

/** Writes all that a run needs to go on exactly: adapters as PEFT folders, moments, and the rest. */
export async function saveState(
  folder: string,
  components: Components,
  { progress, identity }: { progress: TrainerProgress; identity: Identity },
): Promise<void> {
  await saveRoles(components, checkpointFolders(folder));
  const optimizerSteps: number[] = [];
  for (const [name, optimizer] of optimizersOf(components)) {
    const { step, tensors } = optimizer.state();
    optimizerSteps.push(step);
    await writeArrays(join(folder, name), tensors);
  }
  const state: SavedProgress = { ...progress, config: identity, optimizerSteps };
  await writeAtomically(join(folder, 'state.json'), `${JSON.stringify(state, undefined, 2)}\n`);
}

/** Takes over what `saveState` wrote, into the weights and moments that are there. */
export async function loadState(
  folder: string,
  components: Components,
  identity: Identity,
): Promise<TrainerProgress> {
  const { optimizerSteps, config, ...progress } = await readProgress(join(folder, 'state.json'));
  expectSameConfig(config, identity);
  await loadRoles(components, checkpointFolders(folder));
  for (const [k, [name, optimizer]] of optimizersOf(components).entries()) {
    optimizer.restore({ step: optimizerSteps[k]!, tensors: await readArrays(join(folder, name)) });
  }
  const numbers = Object.entries(progress.metrics).map(([name, x]) => [name, x ?? Number.NaN]);
  return { ...progress, metrics: Object.fromEntries(numbers) };
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

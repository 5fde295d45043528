import { join } from 'node:path';
import { z } from 'zod';
import { readArrays, type Training, writeArrays } from '../loop/index.ts';
import type { RoleOptimizer } from '../training/index.ts';
import type { PPOComponents } from './components.ts';
import type { Monitors } from './ppo-training.ts';
import { checkpointFolders, loadRoles, saveRoles } from './roles-files.ts';

const stateSchema = z.strictObject({
  optimizerSteps: z.array(z.int().min(0)),
  rewards: z.unknown(),
  convergence: z.unknown(),
  motion: z.unknown(),
  /** Responses of earlier steps that later updates reuse. */
  buffer: z.unknown(),
});

/** Saves the state of PPO in the folder of a checkpoint, and restores it. */
export function ppoStateFiles(
  components: PPOComponents,
  monitors: Monitors,
): NonNullable<Training['state']> {
  return {
    save: (folder) => saveState(folder, components, monitors),
    load: (folder, saved) => loadState(folder, saved, { components, ...monitors }),
  };
}

/** Writes adapters as PEFT folders and the moments of the optimisers. */
async function saveState(
  folder: string,
  components: PPOComponents,
  { evaluator, motion }: Monitors,
) {
  await saveRoles(components, checkpointFolders(folder));
  const steps: number[] = [];
  for (const [name, optimizer] of optimizersOf(components)) {
    const { step, tensors } = optimizer.state();
    steps.push(step);
    await writeArrays(join(folder, name), tensors);
  }
  return {
    optimizerSteps: steps,
    rewards: components.rewardComputer.state(),
    convergence: evaluator.convergence.state(),
    motion: motion.state(),
    buffer: components.buffer.state(),
  };
}

async function loadState(
  folder: string,
  saved: unknown,
  { components, evaluator, motion }: Monitors & { readonly components: PPOComponents },
): Promise<void> {
  const state = stateSchema.parse(saved);
  const { optimizerSteps: steps, rewards, convergence, buffer } = state;
  await loadRoles(components, checkpointFolders(folder));
  for (const [k, [name, optimizer]] of optimizersOf(components).entries()) {
    optimizer.restore({ step: steps[k]!, tensors: await readArrays(join(folder, name)) });
  }
  components.rewardComputer.restore(rewards);
  evaluator.convergence.restore(convergence);
  motion.restore(state.motion);
  components.buffer.restore(buffer);
}

function optimizersOf({ modelTrainer }: PPOComponents): [string, RoleOptimizer][] {
  const { policyOptimizer, valueOptimizer } = modelTrainer;
  const policy: [string, RoleOptimizer] = ['policy-optimizer.safetensors', policyOptimizer];
  return valueOptimizer === undefined
    ? [policy]
    : [policy, ['value-optimizer.safetensors', valueOptimizer]];
}

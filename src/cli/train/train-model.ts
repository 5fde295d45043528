import type { RunConfig, RunConfigOptions } from '../../config/run-config.ts';
import * as proximal from '../../index.ts';
import { completeRunConfig, trainRun } from '../../run/train-run.ts';
import { Interruption } from '../failure.ts';
import { untilInterrupted } from '../interrupt.ts';
import { loadWithProgress } from './load-with-progress.ts';
import { readTrainConfig } from './read-train-config.ts';
import type { TrainFlags } from './train-flags.ts';
import { JsonTeller, TrainTeller } from './train-teller.ts';

/** Trains, or shows what would be trained. */
export async function trainModel(
  flags: Omit<TrainFlags, 'model'>,
  given: Partial<RunConfigOptions>,
): Promise<void> {
  const config = await readTrainConfig(flags, given);
  if (!flags.dryRun) return untilInterrupted((signal) => train(config, { flags, signal }));
  const { planRun } = await import('./plan-run.ts');
  const { formatPlan } = await import('./format-plan.ts');
  const plan = await planRun(config);
  const text = flags.json ? JSON.stringify(plan) : formatPlan(plan, process.stdout);
  process.stdout.write(`${text}\n`);
}

async function train(
  given: RunConfig,
  { flags, signal }: { flags: Omit<TrainFlags, 'model'>; signal: AbortSignal },
): Promise<void> {
  const config = completeRunConfig(given);
  const teller = flags.json ? new JsonTeller() : new TrainTeller(config);
  signal.addEventListener('abort', () => teller.interrupt());
  try {
    const result = await trainRun(config, {
      resume: flags.resume !== undefined,
      signal,
      onEvent: (event) => teller.handle(event),
      loadModel: loadWithProgress,
      modules: { proximal },
    });
    teller.end(result);
    if (result.reason === 'interrupted') throw new Interruption();
  } catch (error) {
    if (!signal.aborted) teller.fail();
    throw error;
  }
}

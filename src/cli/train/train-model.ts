import type { RunConfig, RunConfigOptions } from '../../config/run-config.ts';
import {
  completeRunConfig,
  type TrainRunOptions,
  type TrainRunResult,
  trainKind,
  trainRun,
} from '../../run/train-run.ts';
import { withDashboard } from '../dashboard/with-dashboard.ts';
import { untilInterrupted } from '../interrupt.ts';
import { packageEntries } from '../package-entries.ts';
import { readRunConfig } from '../read-run-config.ts';
import type { RunFlags } from '../run-flags.ts';
import { JsonTeller, PeopleTeller, reportRun } from '../run-teller.ts';
import { loadWithProgress } from './load-with-progress.ts';
import { formatSummary } from './train-summary.ts';
import { TrainView } from './train-view.ts';

/** Trains, or shows what would be trained. */
export async function trainModel(
  flags: RunFlags,
  values: Partial<RunConfigOptions>,
): Promise<void> {
  const config = await readRunConfig(trainKind, { flags, values });
  if (!flags.dryRun) return untilInterrupted((signal) => train(config, { flags, signal }));
  const { planRun } = await import('./plan-run.ts');
  const { formatPlan } = await import('./format-plan.ts');
  const plan = await planRun(config);
  const text = flags.json ? JSON.stringify(plan) : formatPlan(plan, process.stdout);
  process.stdout.write(`${text}\n`);
}

async function train(
  given: RunConfig,
  { flags, signal }: { flags: RunFlags; signal: AbortSignal },
): Promise<void> {
  const config = completeRunConfig(given);
  const teller = flags.json
    ? new JsonTeller(toJson)
    : new PeopleTeller<TrainRunResult>({
        command: trainKind.command,
        folder: config.output,
        view: new TrainView(),
        summarize: (result, context) => formatSummary(result, { ...context, config }),
      });
  const run = (onEvent: TrainRunOptions['onEvent']) =>
    trainRun(config, {
      resume: flags.resume !== undefined,
      signal,
      onEvent,
      loadModel: loadWithProgress,
      modules: packageEntries,
    });
  await withDashboard({ flags, folder: config.output }, () => reportRun(teller, signal, run));
}

function toJson({ folder, modelFolder, steps, reason, message }: TrainRunResult): object {
  return { folder, modelFolder, steps, reason, message };
}

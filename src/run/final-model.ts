import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { explainSystemError, writeFolderAtomically } from '../fs/index.ts';
import type { Metrics } from '../loop/index.ts';
import type { RunFolder } from './run-folder.ts';
import type { RunState } from './run-state.ts';

/** Which of a run's models is in `model/`, and why. */
export type ModelChoice = NonNullable<RunState['model']>;

/** What decides which model of a run is the best. */
export interface Ranking {
  /** `eval/…` */
  readonly metric: string;
  /** Its name in sentences, such as "reward". */
  readonly label: string;
}

/** An evaluation of a run in numbers. */
interface Evaluated {
  readonly step: number;
  readonly metrics: Metrics;
}

/** The parts of a trainer that saving its models needs. */
export interface FinalModelOptions {
  readonly ranking: Ranking;
  /** Completed steps. */
  readonly steps: number;
  readonly evaluations: readonly Evaluated[];
  saveModel(folder: string): Promise<void>;
  /** Restores the weights of a checkpoint. */
  loadCheckpoint(folder: string): Promise<void>;
  warn(message: string): Promise<void>;
}

/** Saves the model of a run that has done its steps as `model/`: the best by validation, with the last
 *  in `last/` if it is a different one, or the last without validation. The choice is in `run.json`. */
export async function saveFinalModel(
  run: RunFolder,
  options: FinalModelOptions,
): Promise<ModelChoice> {
  const { steps } = options;
  const [model, last] = [join(run.path, 'model'), join(run.path, 'last')];
  const best = await findBest(run, options);
  // Both may be left from before the run was extended.
  for (const folder of [model, last]) await rm(folder, { recursive: true, force: true });
  const isOther = best !== undefined && best.step !== steps;
  if (isOther) {
    await saveTo(last, options);
    await options.loadCheckpoint(best.folder);
  }
  await saveTo(model, options);
  const choice = describeChoice(best?.step, options);
  run.update({ model: choice });
  run.log({ type: 'model', step: steps, message: choice.message });
  return choice;
}

async function saveTo(
  folder: string,
  { saveModel }: Pick<FinalModelOptions, 'saveModel'>,
): Promise<void> {
  try {
    await writeFolderAtomically(folder, (temporary) => saveModel(temporary));
  } catch (error) {
    const action = `save the model to ${folder}`;
    throw explainSystemError(error, { action, next: 'resume the run' });
  }
}

async function findBest(run: RunFolder, { warn }: FinalModelOptions) {
  try {
    return await run.checkpoints.best();
  } catch (error) {
    // A run that has ended is worth more than an error about one of its checkpoints.
    await warn(`${(error as Error).message}. The last model is saved instead`);
    return undefined;
  }
}

/** Says which model is in `model/` and why. */
export function describeChoice(
  bestStep: number | undefined,
  { ranking, steps, evaluations }: Pick<FinalModelOptions, 'ranking' | 'steps' | 'evaluations'>,
): ModelChoice {
  const { metric, label } = ranking;
  const valueAt = (step: number) =>
    evaluations.findLast((evaluation) => evaluation.step === step)?.metrics[metric];
  const [best, last] = [bestStep === undefined ? undefined : valueAt(bestStep), valueAt(steps)];
  const show = (value: number | undefined) =>
    value === undefined ? '' : ` (${label} ${Number(value.toPrecision(4))})`;
  if (bestStep === undefined) {
    const reason =
      evaluations.length === 0
        ? 'there was no validation data to find the best'
        : 'no evaluation counts as the best';
    const message = `model/ holds the weights after the last step, ${steps}: ${reason}`;
    return { step: steps, chosenBy: 'last', message };
  }
  const chosen = { step: bestStep, chosenBy: 'validation', metric, value: best } as const;
  if (bestStep === steps) {
    const message = `model/ holds the weights after the last step, ${steps}, the best by validation${show(best)}`;
    return { ...chosen, message };
  }
  const what =
    bestStep === 0
      ? `model/ holds the weights from before the first step: no later evaluation was better${show(best)}`
      : `model/ holds the weights after step ${bestStep}, the best by validation${show(best)}`;
  const message = `${what}; last/ holds those after the last step, ${steps}${show(last)}`;
  return { ...chosen, message };
}

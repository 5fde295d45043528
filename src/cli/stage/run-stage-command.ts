import type { AnyRunConfig, RunKind } from '../../config/run-config.ts';
import { completeConfig } from '../../run/run-config-files.ts';
import type { StageRunOptions, StageRunResult } from '../../run/stage-run.ts';
import { withDashboard } from '../dashboard/with-dashboard.ts';
import { untilInterrupted } from '../interrupt.ts';
import { readRunConfig } from '../read-run-config.ts';
import type { RunFlags } from '../run-flags.ts';
import { JsonTeller, PeopleTeller, reportRun } from '../run-teller.ts';
import type { Output } from '../terminal.ts';
import { loadWithProgress } from '../train/load-with-progress.ts';
import type { StagePlan } from './plan-stage.ts';
import { StageView } from './stage-view.ts';

/** What is told apart between stages. */
export interface StageCommand<O extends object, C extends AnyRunConfig, R extends StageRunResult> {
  readonly kind: RunKind<O, C>;
  plan(config: C): Promise<StagePlan>;
  run(config: O, context: StageRunOptions): Promise<R>;
  summarize(result: R, context: SummaryContext<C>): string;
}

export interface SummaryContext<C> {
  readonly config: C;
  /** Since the command was given. */
  readonly seconds: number;
  readonly output: Output;
}

/** Trains a stage, or shows what would be trained. */
export async function runStageCommand<
  O extends object,
  C extends AnyRunConfig & O,
  R extends StageRunResult,
>(
  command: StageCommand<O, C, R>,
  given: { readonly flags: RunFlags; readonly values: Partial<O> },
): Promise<void> {
  const { kind } = command;
  const { flags } = given;
  const config = await readRunConfig(kind, given);
  if (!flags.dryRun) {
    return untilInterrupted((signal) => train(command, { config, flags, signal }));
  }
  const { formatStagePlan } = await import('./format-stage-plan.ts');
  const plan = await command.plan(config);
  const { prefix } = kind;
  const output = process.stdout;
  output.write(
    `${flags.json ? JSON.stringify(plan) : formatStagePlan(plan, { prefix, output })}\n`,
  );
}

async function train<O extends object, C extends AnyRunConfig & O, R extends StageRunResult>(
  { kind, run, summarize }: StageCommand<O, C, R>,
  given: { readonly config: C; readonly flags: RunFlags; readonly signal: AbortSignal },
): Promise<void> {
  const { flags, signal } = given;
  const config = completeConfig<O, C>(given.config, kind);
  const teller = flags.json
    ? new JsonTeller<R>((result) => result)
    : new PeopleTeller<R>({
        command: kind.command,
        folder: config.output,
        view: new StageView(),
        summarize: (result, context) => summarize(result, { ...context, config }),
      });
  const resume = flags.resume !== undefined;
  await withDashboard({ flags, folder: config.output }, () =>
    reportRun(teller, signal, (onEvent) =>
      run(config, { resume, signal, onEvent, loadModel: loadWithProgress }),
    ),
  );
}

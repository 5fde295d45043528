import { join } from 'node:path';
import type { RunConfig } from '../../config/run-config.ts';
import type { FirstAndLast } from '../../run/read-evaluations.ts';
import type { TrainRunResult } from '../../run/train-run.ts';
import { formatTable } from '../inspect/format-table.ts';
import { bold, type Output } from '../terminal.ts';
import { formatSeconds } from '../units.ts';
import { formatPerformances, formatSamples } from './performance-table.ts';
import { quote, shorten } from './shorten.ts';

export interface SummaryContext {
  readonly config: RunConfig;
  /** Since the command was given. */
  readonly seconds: number;
  readonly output: Output;
}

/** How a run that was not interrupted ended: numbers before and after, texts before and after, and what can be done next. */
export function formatSummary(result: TrainRunResult, context: SummaryContext): string {
  const { config, seconds, output } = context;
  const { evaluations, steps, message } = result;
  const count = `${steps} ${steps === 1 ? 'step' : 'steps'}`;
  const commands = nextCommands(result, config).map((line) => `  ${line}`);
  return [
    `${message}. ${count}, ${formatSeconds(seconds)} since the start of this command.`,
    ...(evaluations === undefined ? [] : formatEvaluations(evaluations, output)),
    `${bold('Files', output)}\n${formatFiles(result)}`,
    `${bold('Next', output)}\n${commands.join('\n')}`,
  ].join('\n\n');
}

function formatEvaluations({ first, last }: FirstAndLast, output: Output): string[] {
  const columns =
    first.step === last.step
      ? { [`step ${last.step}`]: last.performance }
      : {
          [`before (step ${first.step})`]: first.performance,
          [`after (step ${last.step})`]: last.performance,
        };
  const table = `${bold('Validation', output)}\n${formatPerformances(columns)}`;
  return [table, ...formatSamples(last.samples, output)];
}

function formatFiles({ folder, modelFolder, steps, best }: TrainRunResult): string {
  const hasBetter = best !== undefined && best.step !== steps;
  return formatTable([
    ['model', `${shorten(modelFolder!)} (LoRA adapter, as PEFT saves it)`],
    ...(hasBetter ? [[`best, step ${best.step}`, shorten(best.policyFolder)]] : []),
    ['metrics', shorten(join(folder, 'metrics.jsonl'))],
    ['run', shorten(folder)],
  ]);
}

function nextCommands({ folder, modelFolder }: TrainRunResult, { modelName }: RunConfig): string[] {
  const model = quote(shorten(modelName));
  return [
    `proximal generate --model ${model} --adapter ${quote(shorten(modelFolder!))} --prompt "…"`,
    `proximal evaluate --adapter ${quote(shorten(folder))}`,
  ];
}

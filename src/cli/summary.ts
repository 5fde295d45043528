import { join } from 'node:path';
import type { EvaluationReport } from '../loop/evaluation-report.ts';
import { count } from '../run/run-data.ts';
import type { RunEvaluation, RunEvaluations, RunResult } from '../run/run-training.ts';
import type { RunData } from '../run/sft-run.ts';
import {
  type EvaluatedCases,
  type EvaluationColumn,
  type ExtraColumn,
  formatEvaluations,
} from './evaluation-table.ts';
import { formatNumber, formatSeconds, shortPath } from './format.ts';
import { describeHumanEvaluation } from './human-evaluation.ts';
import { commandLine } from './program-command.ts';
import { formatTable } from './table.ts';
import {
  bold,
  dim,
  formatSections,
  indentedText,
  lineWidth,
  type Output,
  oneLine,
  wrapWords,
} from './terminal.ts';

/** What a command adds to the summary of its run. */
export interface SummaryDetails {
  /** What the model folder contains, in parentheses. */
  readonly modelNote: string;
  /** An extra column, such as the accuracy of a simple rule. */
  readonly column?: ExtraColumn | undefined;
  /** More sentences about the evaluation. */
  readonly notes?: readonly string[];
  /** Commands to run next, without the program's name. */
  readonly next: readonly string[];
}

export interface SummaryContext {
  /** Since the command started. */
  readonly seconds: number;
  readonly output: Output;
}

type SummaryResult = RunResult & Partial<RunData>;

/** Summarises a run that was not interrupted: numbers before and after, samples, files, and what to do
 *  next. */
export function formatSummary(
  result: SummaryResult,
  { seconds, output, ...details }: SummaryDetails & SummaryContext,
): string {
  const { steps, message, evaluations, items } = result;
  const cases = evaluations && countCases(evaluations.last, items);
  const on = cases === undefined ? '' : ` on ${count(cases.number, cases.noun)}`;
  const samples = evaluations?.model.report?.samples ?? [];
  const width = lineWidth(output);
  return [
    wrapWords(`${message}. ${count(steps, 'step')} in ${formatSeconds(seconds)}.`, { width }),
    formatSections(
      [[`Validation${on}`, describeEvaluations(result, { ...details, cases, width })]],
      output,
    ),
    ...formatSamples(samples, output),
    ...formatHuman(result, output),
    formatSections(
      [
        ['Files', formatFiles(result, { ...details, width })],
        ['Next', details.next.map((args) => `  ${commandLine(args)}`).join('\n')],
      ],
      output,
    ),
  ].join('\n\n');
}

/** PPO evaluates on prompts, the other kinds on the items of their data. */
function countCases(
  { report }: RunEvaluation,
  items: SummaryResult['items'],
): EvaluatedCases | undefined {
  if (report !== undefined) return { number: report.performance.prompts, noun: 'prompt' };
  return items && { number: items.validation, noun: items.unit.slice(0, -1) };
}

function formatHuman({ human }: Pick<RunResult, 'human'>, output: Output): string[] {
  if (human.length === 0) return [];
  const width = lineWidth(output);
  const lines = human.map((row) => indentedText(describeHumanEvaluation(row), width));
  return [formatSections([['Human evaluation', lines.join('\n')]], output)];
}

function describeEvaluations(
  { evaluations, model }: SummaryResult,
  details: SummaryDetails & {
    readonly cases: EvaluatedCases | undefined;
    readonly width: number;
  },
): string {
  const { column, cases, width, notes = [] } = details;
  const choice = model === undefined ? [] : [`${model.message}.`];
  const [table, sentences] =
    evaluations === undefined
      ? ['  none: there was nothing to evaluate on', choice]
      : [
          formatEvaluations(titleColumns(evaluations), { extra: column, cases, width }),
          [...choice, ...warnOfHigherLoss(evaluations), ...notes],
        ];
  return [table, ...sentences.map((sentence) => indentedText(sentence, width))].join('\n');
}

/** The different evaluations among the first, the saved model's and the last, under their titles. */
function titleColumns({ first, model, last }: RunEvaluations): Record<string, EvaluationColumn> {
  if (first.step === last.step) return { [`step ${last.step}`]: toColumn(last) };
  if (model.step === last.step) {
    return {
      [`before (step ${first.step})`]: toColumn(first),
      [`after (step ${last.step})`]: toColumn(last),
    };
  }
  return {
    ...(model.step === first.step ? {} : { [`before (step ${first.step})`]: toColumn(first) }),
    [`model (step ${model.step})`]: toColumn(model),
    [`last (step ${last.step})`]: toColumn(last),
  };
}

function toColumn({ metrics, report }: RunEvaluation): EvaluationColumn {
  return { metrics, performance: report?.performance };
}

function warnOfHigherLoss({ first, last }: RunEvaluations): string[] {
  const [before, after] = [first.metrics['eval/loss'], last.metrics['eval/loss']];
  return before !== undefined && after !== undefined && after > before
    ? ['The loss is higher than before: lower the learning rate or train on more rows.']
    : [];
}

const MAX_SAMPLES = 2;
/** Columns before the text of a sample. */
const SAMPLE_INDENT = 24;

/** Greedy responses of reference and policy to the first prompts. */
export function formatSamples(samples: EvaluationReport['samples'], output: Output): string[] {
  const width = Math.max(20, lineWidth(output) - SAMPLE_INDENT);
  const show = (text: string) => oneLine(text, width) || '(empty)';
  return samples.slice(0, MAX_SAMPLES).map((sample, i) => {
    const { prompt, refResponse, refScore, response, score } = sample;
    const table = formatTable(
      [
        ['prompt', '', show(prompt)],
        ['reference', formatNumber(refScore), show(refResponse)],
        ['policy', formatNumber(score), show(response)],
      ],
      'lrl',
    );
    const note = dim('(greedy, with scores)', output);
    return `${bold(`Sample ${i + 1}`, output)} ${note}\n${table}`;
  });
}

function formatFiles(
  { folder, modelFolder, lastFolder, steps, report }: SummaryResult,
  { modelNote, width }: SummaryDetails & { readonly width: number },
): string {
  const leftOut = report === undefined ? 0 : report.bad + report.repeated;
  const rows = [
    ['model', `${shortPath(modelFolder!)} (${modelNote})`],
    ...(lastFolder === undefined
      ? []
      : [['last', `${shortPath(lastFolder)} (after the last step, ${steps})`]]),
    ['metrics', shortPath(join(folder, 'metrics.jsonl'))],
    ...(leftOut === 0
      ? []
      : [
          [
            'left out',
            `${shortPath(join(folder, 'data.json'))} (${leftOut} of ${report!.read} rows)`,
          ],
        ]),
    ['run', shortPath(folder)],
  ];
  return formatTable(rows, 'll', { width });
}

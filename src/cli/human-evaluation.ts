import type { ComparisonResult } from '../dashboard/labels/label-store.ts';
import type { HumanEvaluation, HumanEvaluationRow, MeanRating } from '../run/human-evaluation.ts';
import { count } from '../run/run-data.ts';
import { formatPercent, shortPath } from './format.ts';
import { formatTable } from './table.ts';
import { indentedText, lineWidth, type Output, oneLine } from './terminal.ts';

/** Number of prompts below which a result says little. */
const FEW_PROMPTS = 20;

/** An evaluation by people in one sentence.
 *  @example People prefer the policy of step 32 to the reference on 67.5 % of 40 prompts (95 % interval
 *  52.0 % to 79.9 %; 2 labellers) */
export function describeHumanEvaluation({ step, human }: HumanEvaluationRow): string {
  const { judged, winRate, labellers, ratings } = human;
  const rated =
    ratings === null
      ? ''
      : `, and rate it ${ratings.policy.mean.toFixed(2)} against ${ratings.other.mean.toFixed(2)} of 5`;
  const details = `95 % interval ${formatInterval(human)}; ${count(labellers, 'labeller')}`;
  return `People prefer the policy of step ${step} to ${nameOther(human)} on ${formatPercent(winRate)} of ${count(judged, 'prompt')} (${details})${rated}`;
}

/** The result of a comparison as a table. */
export function formatComparisonResult(result: ComparisonResult, output: Output): string {
  const { human, step, run, prompts } = result;
  const { judged, equal, wins, ties, losses, winRate, answers, labellers } = human;
  const other = nameOther(human);
  const equals = equal === 0 ? '' : `, ${equal} of them with equal responses, which are ties`;
  const rows = [
    ['compared', `the policy of ${oneLine(shortPath(run))} at step ${step} with ${other}`],
    ['prompts', `${judged} of ${prompts} judged${equals}`],
    ['answers', `${answers} by ${count(labellers, 'labeller')}`],
    ['policy preferred', `on ${count(wins, 'prompt')}`],
    ['tie', `on ${count(ties, 'prompt')}`],
    ['other preferred', `on ${count(losses, 'prompt')}`],
    ['win rate', `${formatPercent(winRate)} (95 % interval ${formatInterval(human)})`],
    ...formatRatings(human),
    ['agreement', formatAgreement(human)],
  ];
  const width = lineWidth(output);
  const sentences = [
    ...(judged < FEW_PROMPTS
      ? [
          `Fewer than ${FEW_PROMPTS} prompts are judged, so the interval is wide: label more, or compare more prompts.`,
        ]
      : []),
    formatRecord(result),
  ];
  return [
    formatTable(rows, 'll', { width }),
    ...sentences.map((sentence) => indentedText(sentence, width)),
  ].join('\n');
}

function formatRecord({ isRecorded, run }: ComparisonResult): string {
  return isRecorded
    ? `Added to the evaluations of ${shortPath(run)}`
    : `The evaluations of ${shortPath(run)} already have this result, or the run was deleted`;
}

function formatRatings({ ratings }: HumanEvaluation): string[][] {
  if (ratings === null) return [];
  return [
    ['rating of the policy', formatRating(ratings.policy)],
    ['rating of the other', formatRating(ratings.other)],
    ['difference', formatRating(ratings.difference)],
  ];
}

function formatRating({ mean, interval }: MeanRating): string {
  const range =
    interval === null
      ? ''
      : ` (95 % interval ${interval[0].toFixed(2)} to ${interval[1].toFixed(2)})`;
  return `${mean.toFixed(2)}${range}`;
}

function formatAgreement({ agreement, alpha }: HumanEvaluation): string {
  if (agreement === null) return 'unknown: no task has answers by several labellers';
  const chance = alpha === null ? '' : `, Krippendorff's alpha ${alpha.toFixed(2)}`;
  return `on ${formatPercent(agreement)} of the tasks with several answers${chance}`;
}

function formatInterval({ interval: [low, high] }: HumanEvaluation): string {
  return `${formatPercent(low)} to ${formatPercent(high)}`;
}

function nameOther({ against }: HumanEvaluation): string {
  return against === 'reference' ? 'the reference' : `the policy of ${oneLine(against)}`;
}

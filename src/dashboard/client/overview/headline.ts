import { isHumanEvaluation } from '../../../run/human-evaluation.ts';
import type { EvaluationRow, RunKindName } from '../../api.ts';
import type { Points, RunSeries } from '../charts/series.ts';

/** A confidence interval. */
interface Interval {
  readonly low: number;
  readonly high: number;
}

/** A number at a step. */
interface Reading {
  readonly step: number;
  readonly value: number;
}

/** A number that says how a run is doing: at its start and now. */
export interface Headline {
  readonly name: string;
  readonly metric: string;
  readonly isPercent: boolean;
  readonly start: Reading;
  readonly now: Reading;
  /** 95 % interval of the number now, as the evaluation recorded it; undefined if it did not. */
  readonly interval: Interval | undefined;
}

/** The headlines of a run and what they were measured on. */
export interface Headlines {
  readonly numbers: readonly Headline[];
  /** In a few words, such as `24 validation prompts`. */
  readonly measuredOn: string;
  readonly isEvaluated: boolean;
}

interface HeadlineSpec {
  readonly name: string;
  /** Metrics in order of preference. */
  readonly metrics: readonly string[];
  readonly isPercent?: boolean;
}

const specs: Readonly<Record<RunKindName, readonly HeadlineSpec[]>> = {
  ppo: [
    { name: 'Reward', metrics: ['eval/reward', 'objective/scores'] },
    { name: 'Win rate', metrics: ['eval/win_rate'], isPercent: true },
    { name: 'KL', metrics: ['eval/kl', 'objective/kl'] },
    { name: 'Finished', metrics: ['eval/finished_rate', 'eval/finished'], isPercent: true },
  ],
  sft: [
    { name: 'Loss', metrics: ['eval/loss', 'train/loss'] },
    { name: 'Perplexity', metrics: ['eval/perplexity'] },
  ],
  reward: [
    { name: 'Accuracy', metrics: ['eval/accuracy', 'train/accuracy'], isPercent: true },
    { name: 'Loss', metrics: ['eval/loss', 'train/loss'] },
    { name: 'Margin', metrics: ['eval/margin', 'train/margin'] },
  ],
};

interface HeadlineInput {
  readonly kind: RunKindName;
  readonly series: RunSeries;
  readonly evaluations: readonly EvaluationRow[];
  readonly config: Readonly<Record<string, unknown>>;
}

/** The headlines of a run: of its evaluations if it has any, else of its training batches.
 *  @example eval/reward 0.2 at step 0 and 0.8 at step 20  →  'Reward' from 0.2 to 0.8 */
export function headlinesOf({ kind, series, evaluations, config }: HeadlineInput): Headlines {
  const performance = performanceOf(evaluations.findLast((row) => !isHumanEvaluation(row)));
  const prompts = promptCount(performance, config);
  const numbers = specs[kind].flatMap(({ name, metrics, isPercent = false }): Headline[] => {
    for (const metric of metrics) {
      const readings = endsOf(series.get(metric));
      if (readings === undefined) continue;
      const interval = readInterval(performance[intervalFields[metric] ?? '']);
      return [{ name, metric, isPercent, ...readings, interval }];
    }
    return [];
  });
  const isEvaluated = numbers.some(({ metric }) => metric.startsWith('eval/'));
  return { numbers, isEvaluated, measuredOn: describeSize(kind, { prompts, isEvaluated }) };
}

/** The first and the last number of a series; undefined if it has none. */
function endsOf(points: Points | undefined): { start: Reading; now: Reading } | undefined {
  const readings = (points?.steps ?? []).flatMap((step, i): Reading[] => {
    const value = points!.values[i];
    return value == null ? [] : [{ step, value }];
  });
  const [start, now] = [readings[0], readings.at(-1)];
  return start === undefined || now === undefined ? undefined : { start, now };
}

type Fields = Readonly<Record<string, unknown>>;

/** Where an evaluation records the interval of a metric. */
const intervalFields: Readonly<Record<string, string>> = {
  'eval/reward': 'rewardInterval',
  'eval/win_rate': 'winRateInterval',
};

function performanceOf(row: EvaluationRow | undefined): Fields {
  return (row?.performance ?? {}) as Fields;
}

/** Bounds that are not numbers, as for a single prompt, are no interval. */
function readInterval(value: unknown): Interval | undefined {
  if (!Array.isArray(value)) return undefined;
  const [low, high]: unknown[] = value;
  return typeof low === 'number' && typeof high === 'number' ? { low, high } : undefined;
}

/** Number of prompts of an evaluation; earlier versions record only its responses, `evalBestOf` per
 *  prompt. */
function promptCount({ prompts, responses }: Fields, { evalBestOf }: Fields): number | undefined {
  const [counted, perPrompt] = [positive(responses), positive(evalBestOf)];
  return positive(prompts) ?? (counted && perPrompt && counted / perPrompt);
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined;
}

function describeSize(
  kind: RunKindName,
  { prompts, isEvaluated }: { prompts: number | undefined; isEvaluated: boolean },
): string {
  if (!isEvaluated) return kind === 'ppo' ? "the step's own responses" : "the step's own batch";
  if (kind !== 'ppo') return 'held-out data';
  if (prompts === undefined) return 'validation prompts';
  return `${prompts} validation prompt${prompts === 1 ? '' : 's'}`;
}

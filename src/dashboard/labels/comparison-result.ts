import { mean, meanInterval, proportionInterval } from '../../columns/index.ts';
import type { HumanEvaluation, MeanRating } from '../../run/human-evaluation.ts';
import type { LabelChoice } from '../api.ts';
import { measureAgreement } from './agreement.ts';
import type { AnswerBook } from './answer-log.ts';
import type { ComparedFrom } from './create/compare-tasks.ts';
import type { Comparison, StoredTask } from './queue-schema.ts';

export interface ComparedQueue {
  /** Id of the queue. */
  readonly queue: string;
  readonly kind: HumanEvaluation['kind'];
  readonly compare: Comparison;
  readonly tasks: readonly StoredTask[];
  readonly book: AnswerBook;
}

/** Evaluates a comparison by the answers so far; undefined without answers. A prompt is a win if most
 *  labellers prefer the policy, or if its mean rating is higher; equal responses are ties.
 *  @example 3 prompts, won by 2 of 2, 2 of 3 and 1 of 2 labellers  →  2 wins, 1 tie, win rate ⅚ */
export function evaluateComparison(queue: ComparedQueue): HumanEvaluation | undefined {
  const { kind, compare, tasks, book } = queue;
  const answers = tasks.map(({ id }) => [...book.answersTo(id).values()]);
  const people = book.labellersOf(tasks);
  const choices = tasks.map((task, i) => answers[i]!.map(({ answer }) => bySide(task, answer)));
  const rated = kind === 'rating' ? ratePrompts(tasks, choices) : undefined;
  const margins = rated?.map(({ policy, other }) => policy - other) ?? countVotes(choices);
  if (margins.length === 0) return undefined;
  const { equal, prompts, against } = compare;
  const count = (sign: number) => margins.filter((margin) => Math.sign(margin) === sign).length;
  const [wins, ties, losses] = [count(1), count(0) + equal, count(-1)];
  const judged = wins + ties + losses;
  const winRate = (wins + ties / 2) / judged;
  return {
    ...{ queue: queue.queue, against, kind, prompts, judged, equal },
    answers: people.reduce((sum, person) => sum + person.answers, 0),
    labellers: people.length,
    ...{ wins, ties, losses, winRate, interval: proportionInterval(winRate, judged) },
    ratings: rated === undefined ? null : averageRatings(rated),
    ...measureAgreement(choices, kind),
    time: new Date().toISOString(),
  };
}

/** A choice in which 0 is the policy and 1 the other model, so that agreement by chance depends on how
 *  often each is preferred and not on the shuffled places. */
function bySide({ responses }: StoredTask, answer: LabelChoice): LabelChoice {
  if (answer.kind !== 'pair' || typeof answer.choice === 'string') return answer;
  const { side } = fromOf(responses[answer.choice]!);
  return { kind: 'pair', choice: side === 'policy' ? 0 : 1 };
}

function fromOf({ from }: StoredTask['responses'][number]): ComparedFrom {
  return from as unknown as ComparedFrom;
}

/** Votes for the policy minus votes for the other model, per judged task; ties and two bad responses
 *  count for neither. */
function countVotes(choices: readonly (readonly LabelChoice[])[]): number[] {
  const votes = (given: readonly LabelChoice[], side: 0 | 1) =>
    given.filter((choice) => choice.kind === 'pair' && choice.choice === side).length;
  return choices
    .filter(({ length }) => length > 0)
    .map((given) => votes(given, 0) - votes(given, 1));
}

interface RatedPrompt {
  /** Mean ratings by the labellers. */
  readonly policy: number;
  readonly other: number;
}

/** The prompts of which both responses are rated. */
function ratePrompts(
  tasks: readonly StoredTask[],
  choices: readonly (readonly LabelChoice[])[],
): RatedPrompt[] {
  const prompts = new Map<number, Partial<RatedPrompt>>();
  for (const [i, { responses }] of tasks.entries()) {
    const ratings = choices[i]!.flatMap((choice) =>
      choice.kind === 'rating' ? choice.rating : [],
    );
    if (ratings.length === 0) continue;
    const { prompt, side } = fromOf(responses[0]!);
    prompts.set(prompt, { ...prompts.get(prompt), [side]: mean(ratings) });
  }
  return [...prompts.values()].filter(
    (rated): rated is RatedPrompt => rated.policy !== undefined && rated.other !== undefined,
  );
}

function averageRatings(rated: readonly RatedPrompt[]): NonNullable<HumanEvaluation['ratings']> {
  return {
    policy: average(rated.map(({ policy }) => policy)),
    other: average(rated.map(({ other }) => other)),
    difference: average(rated.map(({ policy, other }) => policy - other)),
  };
}

function average(x: readonly number[]): MeanRating {
  return { mean: mean(x), interval: x.length < 2 ? null : meanInterval(x) };
}

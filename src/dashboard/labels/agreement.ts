import type { LabelChoice, LabelTaskKind } from '../api.ts';
import { krippendorffAlpha } from './krippendorff-alpha.ts';

export interface Agreement {
  /** Part of the tasks answered by several people on which all of them agree; null without such. */
  readonly agreement: number | null;
  /** The same less what chance would give: 1 is perfect, 0 is chance; null where it is undefined. */
  readonly alpha: number | null;
}

/** How far people agree. Pairs need the same answer, ratings may be 1 apart, rankings need the same
 *  best.
 *  @param tasks the answers to each task, with places as they are stored
 *  @example ratings [4, 5] and [2, 4]  →  agreement ½ */
export function measureAgreement(
  tasks: readonly (readonly LabelChoice[])[],
  kind: LabelTaskKind,
): Agreement {
  const shared = tasks.filter(({ length }) => length > 1).map((answers) => answers.map(valueIn));
  if (shared.length === 0) return { agreement: null, alpha: null };
  const agrees = kind === 'rating' ? areNear : areEqual;
  const distance = kind === 'rating' ? squaredDifference : difference;
  return {
    agreement: shared.filter(agrees).length / shared.length,
    alpha: krippendorffAlpha(shared, distance),
  };
}

type Value = number | string;

function valueIn(choice: LabelChoice): Value {
  if (choice.kind === 'pair') return choice.choice;
  return choice.kind === 'rating' ? choice.rating : choice.order[0]!;
}

function areEqual([first, ...others]: readonly Value[]): boolean {
  return others.every((other) => other === first);
}

function areNear(values: readonly Value[]): boolean {
  const ratings = values.map(Number);
  return Math.max(...ratings) - Math.min(...ratings) <= 1;
}

function difference(a: Value, b: Value): number {
  return a === b ? 0 : 1;
}

function squaredDifference(a: Value, b: Value): number {
  return (Number(a) - Number(b)) ** 2;
}

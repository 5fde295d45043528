import type { LabelChoice, LabelTaskKind } from '../api.ts';

export interface Agreement {
  /** Fraction of the tasks with several answers on which all labellers agree; null if there are none. */
  readonly agreement: number | null;
  /** Agreement corrected for chance: 1 is perfect, 0 is chance; null if undefined. */
  readonly alpha: number | null;
}

/** Measures agreement. Pairs need the same answer, ratings may differ by 1, rankings need the same best.
 *  @param tasks the answers to each task, with stored indices
 *  @example ratings [4, 5] and [2, 4]  →  agreement ½ */
export function measureAgreement(
  tasks: readonly (readonly LabelChoice[])[],
  kind: LabelTaskKind,
): Agreement {
  const shared = tasks
    .filter(({ length }) => length > 1)
    .map((answers) => answers.map(choiceValue));
  if (shared.length === 0) return { agreement: null, alpha: null };
  const agrees = kind === 'rating' ? areNear : areEqual;
  const distance = kind === 'rating' ? squaredDifference : difference;
  return {
    agreement: shared.filter(agrees).length / shared.length,
    alpha: krippendorffAlpha(shared, distance),
  };
}

type Value = number | string;

function choiceValue(choice: LabelChoice): Value {
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

/** Krippendorff's α: agreement beyond chance.
 *  α = 1 − D_o/D_e;  D_o = 1/n · Σ_u Σ_{i≠j} δ(v_ui, v_uj)/(m_u − 1);  D_e = Σ_{c,k} n_c·n_k·δ(c, k)/(n(n − 1))
 *  with m_u ≥ 2 values of unit u, n values in all and n_c of them equal to c. Null if all values are
 *  equal, since chance then explains everything.
 *  @example units [0, 0], [1, 1], [0, 1], δ = 1 if values differ
 *    →  n = 6, D_o = 2/6, D_e = (3·3 + 3·3)/(6·5) = 3/5, α = 1 − 5/9 = 4/9 */
export function krippendorffAlpha<V>(
  units: readonly (readonly V[])[],
  distance: (a: V, b: V) => number,
): number | null {
  const counts = new Map<V, number>();
  for (const value of units.flat()) counts.set(value, (counts.get(value) ?? 0) + 1);
  const n = units.reduce((sum, { length }) => sum + length, 0);
  const within = units.map((values) => {
    const sum = values.flatMap((a) => values.map((b) => distance(a, b))).reduce((s, d) => s + d, 0);
    return sum / (values.length - 1);
  });
  const observed = within.reduce((sum, value) => sum + value, 0) / n;
  const across = [...counts].flatMap(([c, n_c]) =>
    [...counts].map(([k, n_k]) => n_c * n_k * distance(c, k)),
  );
  const expected = across.reduce((sum, value) => sum + value, 0) / (n * (n - 1));
  return expected === 0 ? null : 1 - observed / expected;
}

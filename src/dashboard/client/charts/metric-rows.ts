import type { MetricColumns } from '../../api.ts';

/** Rows that the page keeps of a run; a chart is narrower in pixels. */
export const maxRows = 3000;

/** Puts new rows behind those that are there. Steps that are there already are not taken twice: a
 *  stream that comes back may tell them again.
 *  @example steps [1, 2] and [2, 3]  →  steps [1, 2, 3] */
export function appendRows(old: MetricColumns, added: MetricColumns): MetricColumns {
  const last = old.steps.at(-1) ?? -Infinity;
  const first = added.steps.findIndex((step) => step > last);
  if (first < 0) return old;
  const steps = [...old.steps, ...added.steps.slice(first)];
  const names = new Set([...Object.keys(old.columns), ...Object.keys(added.columns)]);
  const columns = Object.fromEntries(
    [...names].map((name) => [
      name,
      [
        ...(old.columns[name] ?? nulls(old.steps.length)),
        ...(added.columns[name]?.slice(first) ?? nulls(added.steps.length - first)),
      ],
    ]),
  );
  const rows = Math.max(added.rows, old.rows + added.steps.length - first);
  return thinRows({ steps, columns, rows }, maxRows);
}

/** Fewer rows, evenly over the steps, the first and the last among them. It goes down to half of
 *  `most`, so that a growing run is not thinned at every row.
 *  @example steps [0, 1, 2, 3, 4], most 4  →  steps [0, 2, 4] */
export function thinRows(data: MetricColumns, most: number): MetricColumns {
  const { steps } = data;
  if (steps.length <= most) return data;
  const width = (steps.at(-1)! - steps[0]!) / Math.floor(most / 2);
  const kept: number[] = [0];
  for (let i = 1; i < steps.length; i++) {
    if (steps[i]! - steps[kept.at(-1)!]! >= width || i === steps.length - 1) kept.push(i);
  }
  const pick = <T>(values: readonly T[]): T[] => kept.map((i) => values[i]!);
  const columns = Object.entries(data.columns).map(([name, values]) => [name, pick(values)]);
  return { steps: pick(steps), columns: Object.fromEntries(columns), rows: data.rows };
}

function nulls(length: number): null[] {
  return new Array<null>(length).fill(null);
}

import type { RunSummary } from '../../api.ts';
import { formatFixed } from '../format.ts';
import { formatTime, kindNames, statuses } from '../overview/describe-run.ts';

type Cell = string | number | null;

/** A column of the table of runs. */
export interface RunColumn {
  readonly key: string;
  readonly title: string;
  /** What the numbers are, for a tooltip. */
  readonly hint?: string;
  readonly isNumber: boolean;
  /** What runs are sorted by; null sorts last. */
  read(run: RunSummary): Cell;
  show(run: RunSummary): string;
}

const textColumns: readonly RunColumn[] = [
  textColumn('name', 'Run', ({ name }) => name),
  textColumn('kind', 'Kind', ({ kind }) => kindNames[kind]),
  textColumn('status', 'Status', ({ status }) => statuses[status].word),
  {
    key: 'step',
    title: 'Step',
    isNumber: true,
    read: ({ step }) => step,
    show: ({ step, totalSteps }) => (totalSteps === null ? `${step}` : `${step}/${totalSteps}`),
  },
];

const metricColumns: readonly RunColumn[] = [
  metricColumn('eval/reward', 'Reward', { hint: 'mean score on the validation prompts' }),
  metricColumn('eval/win_rate', 'Win rate', {
    hint: 'share of validation prompts on which the policy beats the reference',
    isPercent: true,
  }),
  metricColumn('eval/kl', 'KL', { hint: 'KL to the reference on the validation prompts, in nats' }),
  metricColumn('objective/scores', 'Training reward', { hint: 'mean score of the last step' }),
  metricColumn('objective/kl', 'Training KL', { hint: 'KL of the last step, in nats' }),
  metricColumn('eval/accuracy', 'Accuracy', { hint: 'on held-out pairs', isPercent: true }),
  metricColumn('eval/loss', 'Loss', { hint: 'on held-out data, in nats' }),
  metricColumn('train/loss', 'Training loss', { hint: 'of the last step, in nats' }),
];

const startColumn: RunColumn = {
  key: 'startedAt',
  title: 'Started',
  isNumber: false,
  read: ({ startedAt }) => startedAt,
  show: ({ startedAt }) => formatTime(startedAt),
};

function textColumn(key: string, title: string, read: (run: RunSummary) => string): RunColumn {
  return { key, title, isNumber: false, read, show: read };
}

function metricColumn(
  key: string,
  title: string,
  { hint, isPercent = false }: { readonly hint: string; readonly isPercent?: boolean },
): RunColumn {
  const read = ({ results }: RunSummary) => results[key] ?? null;
  const show = (run: RunSummary) => {
    const value = read(run);
    if (value === null) return '';
    return isPercent ? `${formatFixed(100 * value, 1)}%` : formatFixed(value, 3);
  };
  return { key, title, hint: `${key}: ${hint}`, isNumber: true, read, show };
}

/** The columns of a table of these runs; metrics that none of them has are left out. */
export function columnsFor(runs: readonly RunSummary[]): RunColumn[] {
  const metrics = metricColumns.filter(({ read }) => runs.some((run) => read(run) !== null));
  return [...textColumns, ...metrics, startColumn];
}

/** The order of the table. */
export interface RunSort {
  readonly key: string;
  readonly order: 'asc' | 'desc';
}

export const newestRunsFirst: RunSort = { key: startColumn.key, order: 'desc' };

/** The order after a click on a column's header: the other direction, or the column's own: numbers
 *  and times start with the largest, texts with A. */
export function nextRunSort(current: RunSort, column: RunColumn): RunSort {
  if (current.key === column.key) {
    return { key: column.key, order: current.order === 'asc' ? 'desc' : 'asc' };
  }
  const isText = !column.isNumber && column.key !== startColumn.key;
  return { key: column.key, order: isText ? 'asc' : 'desc' };
}

/** Sorts runs by a column; those without a value come last in both directions.
 *  @example rewards 1, none, 3, descending  →  3, 1, none */
export function sortRuns(
  runs: readonly RunSummary[],
  { columns, sort }: { readonly columns: readonly RunColumn[]; readonly sort: RunSort },
): RunSummary[] {
  const column = columns.find(({ key }) => key === sort.key) ?? startColumn;
  const direction = sort.order === 'asc' ? 1 : -1;
  return runs.toSorted((a, b) => {
    const [x, y] = [column.read(a), column.read(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return direction * compareCells(x, y);
  });
}

function compareCells(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });
}

/** The runs that contain every word of a search in their name, kind, status or note.
 *  @example 'ppo beta'  →  runs of PPO with "beta" in their note */
export function searchRuns(runs: readonly RunSummary[], search: string): RunSummary[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter(({ name, kind, status, note }) => {
    const text = [name, kindNames[kind], statuses[status].word, note].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

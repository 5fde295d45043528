import { randomStream } from '../engine/random/index.ts';
import {
  type BadRow,
  type BadRowReason,
  catchRowError,
  type DataRow,
  type RowError,
  throwRowError,
} from './data-row.ts';
import { isOnHub, nameOf, type RowSource, readRows } from './read-rows.ts';
import type { ResolveDatasetOptions } from './resolve-dataset.ts';

export interface RowDataset<T> {
  readonly train: readonly T[];
  readonly validation: readonly T[];
  readonly report: RowReport;
}

/** Loader options that are not part of a config. */
export interface LoadRowsContext {
  /** Seed of the split; 0 by default. */
  readonly seed?: number;
  /** Longest text of the model, in tokens. */
  readonly contextLength?: number;
  readonly hub?: Omit<ResolveDatasetOptions, 'split'>;
}

interface LoadRowsOptions<T> {
  readonly split: string;
  readonly validationFile?: string | undefined;
  readonly validationSplit?: string | undefined;
  readonly validationFraction: number;
  readonly maxRows?: number | undefined;
  readonly onBadRow: 'report' | 'fail';
  readonly seed: number;
  readonly hub: Omit<ResolveDatasetOptions, 'split'>;
  /** Creates a function that turns rows of one source into records and throws a RowError for a bad row. */
  readonly openReader: () => (row: DataRow) => T;
  /** Records with the same key stay on one side of the split. */
  readonly keyOf: (record: T) => string;
}

const noun = 'row';

/** Reads rows one at a time into records, counts the unusable ones, and splits off validation
 *  records. No key is on both sides. */
export async function loadRows<T>(
  source: RowSource,
  options: LoadRowsOptions<T>,
): Promise<RowDataset<T>> {
  const { split, validationFraction: fraction, seed, keyOf } = options;
  const heldOut = await findValidation(source, { ...options, noun });
  const { records, report } = await collectRows(source, { ...options, split });
  if (heldOut === undefined) {
    const keyed = records.map((record) => ({ text: keyOf(record), record }));
    const { train, validation } = splitPrompts(keyed, { fraction, seed });
    const unwrap = (side: typeof keyed) => side.map(({ record }) => record);
    return { train: unwrap(train), validation: unwrap(validation), report };
  }
  const other = await collectRows(heldOut.source, { ...options, split: heldOut.split });
  const keys = new Set(other.records.map(keyOf));
  const train = records.filter((record) => !keys.has(keyOf(record)));
  if (train.length === 0) {
    throw new RangeError(
      `Cannot train on ${nameOf(source, noun)}: some prompts must not be in the validation data ${nameOf(heldOut.source, noun)}, got none; use different validation rows`,
    );
  }
  const own = { ...report, kept: train.length, repeated: records.length - train.length };
  return { train, validation: other.records, report: addReports(own, other.report) };
}

async function collectRows<T>(
  source: RowSource,
  options: LoadRowsOptions<T>,
): Promise<{ readonly records: readonly T[]; readonly report: RowReport }> {
  const { hub, split, maxRows = Infinity, onBadRow, openReader } = options;
  const log = new BadRowLog();
  const onRowError = onBadRow === 'fail' ? throwRowError : log.add.bind(log);
  const read = openReader();
  const records: T[] = [];
  for await (const row of readRows(source, { ...hub, split, onRowError, noun })) {
    const record = catchRowError(() => read(row), onRowError);
    if (record !== undefined && records.push(record) >= maxRows) break;
  }
  const report = log.report({ kept: records.length });
  if (records.length > 0) return { records, report };
  const { bad, examples } = report;
  throw new RangeError(
    `Cannot use ${nameOf(source, noun)}: at least one row must be valid, got ${bad} invalid (${describeReasons(report)}); the first error is: ${examples[0]!.message}`,
  );
}

interface ValidationOptions {
  readonly split: string;
  readonly validationFile?: string | undefined;
  readonly validationSplit?: string | undefined;
  /** The name of an in-memory value in errors; `prompt` by default. */
  readonly noun?: string;
}

/** The separate source of validation rows, if there is one. */
export async function findValidation(
  rows: RowSource,
  { validationFile, validationSplit, split, noun }: ValidationOptions,
): Promise<{ source: RowSource; split: string } | undefined> {
  const source = validationFile ?? rows;
  if (validationSplit === undefined) {
    return validationFile === undefined ? undefined : { source, split };
  }
  if (await isOnHub(source)) return { source, split: validationSplit };
  throw new TypeError(
    `Cannot use validationSplit "${validationSplit}": ${nameOf(source, noun)} must be a hub dataset, because only these have splits; set validationFile instead`,
  );
}

/** Splits off a fraction of the prompts for validation; both parts keep their order.
 *
 *  Each of the n distinct texts gets a random number keyed by seed and text. The k smallest go to
 *  validation, k = round(fraction · n), with at least one text on each side. So equal texts stay
 *  together, and neither the order nor other prompts change a text's number.
 *  @example fraction 0.1 of 25 distinct texts  →  3 for validation, 22 for training
 *  @example fraction 0.1 of 2  →  1 and 1; of 1  →  0 and 1 */
export function splitPrompts<T extends { readonly text: string }>(
  prompts: readonly T[],
  { fraction, seed }: { readonly fraction: number; readonly seed: number },
): { train: T[]; validation: T[] } {
  const texts = [...new Set(prompts.map(({ text }) => text))];
  const isSplit = fraction > 0 && texts.length > 1;
  const rounded = Math.round(fraction * texts.length);
  const k = isSplit ? Math.min(Math.max(rounded, 1), texts.length - 1) : 0;
  const chosen = new Set(
    texts
      .map((text) => ({ text, key: randomStream(seed, 'validation', text).next() }))
      .sort((a, b) => a.key - b.key)
      .slice(0, k)
      .map(({ text }) => text),
  );
  return {
    train: prompts.filter(({ text }) => !chosen.has(text)),
    validation: prompts.filter(({ text }) => chosen.has(text)),
  };
}

/** Counts of the rows that were read: read = kept + bad + repeated. */
export interface RowReport {
  readonly read: number;
  readonly kept: number;
  readonly bad: number;
  /** Training rows that were removed because their prompts are in the validation data. */
  readonly repeated: number;
  /** Number of bad rows per reason. */
  readonly reasons: Readonly<Partial<Record<BadRowReason, number>>>;
  /** The first bad rows per reason. */
  readonly examples: readonly BadRow[];
}

/** Number of examples to keep per reason. */
const maxExamples = 3;

/** Counts bad rows in constant memory. */
class BadRowLog {
  count = 0;
  private readonly reasons = new Map<BadRowReason, number>();
  private readonly examples: BadRow[] = [];

  add({ reason, origin, message }: RowError): void {
    const before = this.reasons.get(reason) ?? 0;
    this.count++;
    this.reasons.set(reason, before + 1);
    if (before < maxExamples) this.examples.push({ reason, origin, message });
  }

  report({ kept }: { readonly kept: number }): RowReport {
    return {
      read: kept + this.count,
      kept,
      bad: this.count,
      repeated: 0,
      reasons: Object.fromEntries(this.reasons),
      examples: [...this.examples],
    };
  }
}

/** Adds the reports of two sources. */
function addReports(a: RowReport, b: RowReport): RowReport {
  const reasons = { ...a.reasons };
  for (const [reason, count] of Object.entries(b.reasons) as [BadRowReason, number][]) {
    reasons[reason] = (reasons[reason] ?? 0) + count;
  }
  return {
    read: a.read + b.read,
    kept: a.kept + b.kept,
    bad: a.bad + b.bad,
    repeated: a.repeated + b.repeated,
    reasons,
    examples: [...a.examples, ...b.examples],
  };
}

/** The reasons, most frequent first.
 *  @example { 'too-long': 1, 'equal-sides': 3 }  →  '3 equal-sides, 1 too-long' */
export function describeReasons({ reasons }: Pick<RowReport, 'reasons'>): string {
  return Object.entries(reasons)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
}

import type { DataRow } from './data-row.ts';
import { orFault, throwFault } from './line-fault.ts';
import { addReports, BadRowLog, describeReasons, type RowReport } from './line-report.ts';
import { findValidation } from './line-validation.ts';
import { splitPrompts } from './prompt-split.ts';
import { nameOf, type RowSource, readRows } from './read-rows.ts';
import type { ResolveDatasetOptions } from './resolve-dataset.ts';

export interface LineDataset<T> {
  readonly train: readonly T[];
  readonly validation: readonly T[];
  readonly report: RowReport;
}

/** What a caller of a loader gives beside the options that a config holds. */
export interface LoadLinesContext {
  /** The same seed gives the same split; 0 by default. */
  readonly seed?: number;
  /** Longest text the model takes, in tokens. */
  readonly contextLength?: number;
  readonly hub?: Omit<ResolveDatasetOptions, 'split'>;
}

interface LoadLinesOptions<T> {
  readonly split: string;
  readonly validationFile?: string | undefined;
  readonly validationSplit?: string | undefined;
  readonly validationFraction: number;
  readonly maxRows?: number | undefined;
  readonly onBadRow: 'report' | 'fail';
  readonly seed: number;
  readonly hub: Omit<ResolveDatasetOptions, 'split'>;
  /** Makes what turns the rows of one source into records; it throws a LineFault for a bad row. */
  readonly openReader: () => (row: DataRow) => T;
  /** What must not be on both sides of the split. */
  readonly keyOf: (record: T) => string;
}

const noun = 'row';

/** Reads rows, one at a time, into records, counts those that cannot be used, and sets some apart
 *  for validation. No key is on both sides. */
export async function loadLines<T>(
  source: RowSource,
  options: LoadLinesOptions<T>,
): Promise<LineDataset<T>> {
  const { split, validationFraction: fraction, seed, keyOf } = options;
  const held = await findValidation(source, { ...options, noun });
  const { records, report } = await collectLines(source, { ...options, split });
  if (held === undefined) {
    const keyed = records.map((record) => ({ text: keyOf(record), record }));
    const { train, validation } = splitPrompts(keyed, { fraction, seed });
    const unwrap = (side: typeof keyed) => side.map(({ record }) => record);
    return { train: unwrap(train), validation: unwrap(validation), report };
  }
  const other = await collectLines(held.source, { ...options, split: held.split });
  const keys = new Set(other.records.map(keyOf));
  const train = records.filter((record) => !keys.has(keyOf(record)));
  if (train.length === 0) {
    throw new RangeError(
      `Cannot train on ${nameOf(source, noun)}: some prompts must not be in ${nameOf(held.source, noun)}, which is to validate on, got none; take other rows to validate on, or leave them out`,
    );
  }
  const own = { ...report, kept: train.length, repeated: records.length - train.length };
  return { train, validation: other.records, report: addReports(own, other.report) };
}

async function collectLines<T>(
  source: RowSource,
  options: LoadLinesOptions<T>,
): Promise<{ readonly records: readonly T[]; readonly report: RowReport }> {
  const { hub, split, maxRows = Infinity, onBadRow, openReader } = options;
  const log = new BadRowLog();
  const onFault = onBadRow === 'fail' ? throwFault : log.add.bind(log);
  const read = openReader();
  const records: T[] = [];
  for await (const row of readRows(source, { ...hub, split, onFault, noun })) {
    const record = orFault(() => read(row), onFault);
    if (record !== undefined && records.push(record) >= maxRows) break;
  }
  const report = log.report({ kept: records.length });
  if (records.length > 0) return { records, report };
  const { bad, examples } = report;
  throw new RangeError(
    `Cannot use ${nameOf(source, noun)}: at least one row must be good, got ${bad} bad (${describeReasons(report)}), of which the first says: ${examples[0]!.message}`,
  );
}

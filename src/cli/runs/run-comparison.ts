import type { EvaluationRow } from '../../dashboard/api.ts';
import { type ConfigRow, compareConfigs } from '../../dashboard/client/overview/config-diff.ts';
import {
  type LogRecord,
  readLastRecords,
  readRecords,
} from '../../dashboard/server/logs/log-records.ts';
import { readJson } from '../../dashboard/server/runs/read-state.ts';
import { locateRunFiles } from '../../run/run-folder.ts';
import { expectRun } from './expect-run.ts';
import { type RunRow, readRunRows } from './run-row.ts';

/** A number of each run; null where a run has none. */
export interface ComparedNumber {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/** Runs side by side, in the order in which they were named. */
export interface RunComparison {
  readonly runs: readonly RunRow[];
  /** Of the last step. */
  readonly metrics: readonly ComparedNumber[];
  /** Of the last evaluation or validation. */
  readonly evaluation: readonly ComparedNumber[];
  /** Settings that differ. */
  readonly config: readonly Omit<ConfigRow, 'differs'>[];
}

type Numbers = Readonly<Record<string, unknown>>;

/** Where a run lies, and short names of metrics that have another one. */
const leftOut = new Set(['output', 'policy_loss', 'value_loss', 'kl_div', 'avg_reward']);

/** Reads what runs can be compared by. */
export async function compareRuns(folders: readonly string[]): Promise<RunComparison> {
  const found = [];
  for (const folder of folders) found.push(await expectRun(folder, 'compare'));
  const rows = await readRunRows(folders);
  const paths = found.map(({ folder }) => locateRunFiles(folder));
  const last = await Promise.all(
    paths.map(async ({ metrics }) => (await readLastRecords(metrics)).at(-1)),
  );
  const evaluations = await Promise.all(
    paths.map(async ({ evaluations: path }) => (await readRecords(path)).at(-1)),
  );
  const configs = await Promise.all(
    paths.map(async ({ config }) => (await readJson(config)) ?? {}),
  );
  return {
    runs: found.map(({ folder }) => rows.find((row) => row.folder === folder)!),
    metrics: compareNumbers(last.map((record) => record ?? {})),
    evaluation: compareNumbers(evaluations.map(numbersOf)),
    config: compareConfigs(configs)
      .filter(({ key, differs }) => differs && !leftOut.has(key))
      .map(({ key, values }) => ({ key, values })),
  };
}

/** Numbers by their names, in the order in which the records have them.
 *  @example [{ a: 1 }, { a: 2, b: null }]  →  a: [1, 2], b: [null, null] */
function compareNumbers(records: readonly Numbers[]): ComparedNumber[] {
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  return [...names]
    .filter((name) => !leftOut.has(name) && records.some((record) => isNumber(record[name])))
    .map((name) => ({
      name,
      values: records.map((record) => {
        const value = record[name];
        return isNumber(value) ? value : null;
      }),
    }));
}

/** An evaluation of PPO has its numbers in `performance`. */
function numbersOf(row: LogRecord | EvaluationRow | undefined): Numbers {
  if (row === undefined) return {};
  const { performance } = row as { performance?: Numbers };
  return performance === undefined ? row : { step: row.step, ...performance };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { EvaluationRow, LogRow, RunKindName, RunStatus } from '../dashboard/api.ts';
import { type ConfigRow, compareConfigs } from '../dashboard/client/overview/config-diff.ts';
import {
  type LogRecord,
  readLastRecords,
  readRecords,
} from '../dashboard/server/logs/log-records.ts';
import { type FoundRun, findRuns } from '../dashboard/server/runs/find-runs.ts';
import {
  isLiving,
  kindOf,
  type ReadState,
  readJson,
  readState,
} from '../dashboard/server/runs/read-state.ts';
import { statIfExists, UnusableFileError } from '../fs/index.ts';
import { isHumanEvaluation } from '../run/human-evaluation.ts';
import { locateRunFiles } from '../run/run-folder.ts';
import { stateName } from '../run/run-state.ts';
import { formatNumber, formatSeconds, shortPath } from './format.ts';
import { formatTable } from './table.ts';
import {
  bold,
  formatSections,
  lineWidth,
  type Output,
  oneLine,
  stripControls,
} from './terminal.ts';

const about = `List the runs in folders (runs by default): kind, progress and status.`;

const compareAbout = `Show runs side by side: the metrics of their last step and last evaluation, and the settings that differ.`;

/** The default folder of runs. */
const defaultFolder = 'runs';

interface RunsFlags {
  readonly json?: boolean;
}

/** `proximal runs`: lists and compares runs. */
export function addRuns(runs: Command): void {
  runs
    .description(about)
    .argument('[folders...]', 'Folders of runs, or folders that contain runs')
    .option('--json', 'Print one JSON array')
    .action(listRuns);
  runs
    .command('compare')
    .summary('Show runs side by side')
    .description(compareAbout)
    .argument('<folders...>', 'Folders of at least two runs')
    .option('--json', 'Print one JSON object')
    .action(async (folders: string[], _: RunsFlags, command: Command) => {
      if (folders.length < 2) command.error('error: at least two runs are required, got one');
      const comparison = await compareRuns(folders);
      const { json } = command.optsWithGlobals<RunsFlags>();
      const text = json ? JSON.stringify(comparison) : formatComparison(comparison, process.stdout);
      process.stdout.write(`${text}\n`);
    });
}

async function listRuns(paths: readonly string[], { json }: RunsFlags): Promise<void> {
  for (const folder of paths) await expectFolder(folder);
  const folders = paths.length === 0 ? [defaultFolder] : paths;
  const rows = await readRunRows(folders, ({ folder }, { message }) => {
    const text = `The run in ${shortPath(folder)} is left out (${message})`;
    process.stderr.write(`Warning: ${stripControls(text)}\n`);
  });
  const text = json
    ? JSON.stringify(rows)
    : rows.length === 0
      ? `No runs in ${folders.map(shortPath).join(', ')}; start one with "proximal train"`
      : formatRuns(rows, process.stdout);
  process.stdout.write(`${text}\n`);
}

async function expectFolder(folder: string): Promise<void> {
  const stats = await statIfExists(folder);
  if (stats?.isDirectory()) return;
  const got = stats === undefined ? 'no such folder' : 'a file';
  throw new Error(`Cannot list the runs in ${folder}: it must be a folder, got ${got}`);
}

/** A run in the list. */
export interface RunRow {
  readonly name: string;
  readonly folder: string;
  readonly kind: RunKindName;
  readonly status: RunStatus;
  readonly message: string | null;
  readonly step: number;
  readonly totalSteps: number | null;
  readonly startedAt: string;
  /** From the start to the last write; null if the clock was set back in between. */
  readonly seconds: number | null;
  /** Of the last step: mean score of PPO's responses, loss of the other kinds. */
  readonly reward: number | null;
  readonly loss: number | null;
  readonly kl: number | null;
}

/** The runs in folders, newest first.
 *  @param onUnusable called for each run whose files cannot be read, which is then left out; throws by
 *    default */
export async function readRunRows(
  folders: readonly string[],
  onUnusable: (run: FoundRun, error: Error) => void = rethrow,
): Promise<RunRow[]> {
  const found = await findRuns(folders);
  const now = new Date();
  const rows = await Promise.all(
    found.map((run) =>
      readRunRow(run, now).catch((error: Error) => {
        if (!isFileError(error)) throw error;
        onUnusable(run, error);
      }),
    ),
  );
  return rows
    .flatMap((row) => row ?? [])
    .sort((a, b) => compare(b.startedAt, a.startedAt) || compare(a.name, b.name));
}

/** Whether an error comes from a file rather than from a bug. */
function isFileError(error: Error): boolean {
  return error instanceof UnusableFileError || 'syscall' in error;
}

function rethrow(_: FoundRun, error: Error): never {
  throw error;
}

/** Undefined if the run disappeared in the meantime. */
async function readRunRow({ name, folder }: FoundRun, now: Date): Promise<RunRow | undefined> {
  const state = await readState(folder);
  if (state === undefined) return undefined;
  const paths = locateRunFiles(folder);
  const last = (await readLastRecords(paths.metrics)).at(-1);
  const { status, message, step, totalSteps, startedAt } = state;
  return {
    ...{ name, folder, kind: kindOf((await readJson(paths.config)) ?? {}) },
    ...{ status, message, step, totalSteps, startedAt },
    seconds: secondsSinceStart(state, isLiving(status) ? now : await lastActivity(folder)),
    reward: numberOf(last, 'objective/scores'),
    loss: numberOf(last, 'train/loss'),
    kl: numberOf(last, 'objective/kl'),
  };
}

function secondsSinceStart({ startedAt }: ReadState, end: Date): number | null {
  const seconds = (end.getTime() - new Date(startedAt).getTime()) / 1000;
  return seconds >= 0 ? seconds : null;
}

/** When a run that has ended last wrote something. */
async function lastActivity(folder: string): Promise<Date> {
  const log = (await readLastRecords(join(folder, 'log.jsonl'))) as unknown as LogRow[];
  const logged = new Date(log.at(-1)?.time ?? Number.NaN);
  return Number.isNaN(logged.getTime()) ? (await stat(join(folder, stateName))).mtime : logged;
}

function numberOf(record: LogRecord | undefined, name: string): number | null {
  const value = record?.[name];
  return typeof value === 'number' ? value : null;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

const headers = ['name', 'kind', 'status', 'step', 'reward', 'loss', 'KL', 'started', 'time'];

/** Formats runs as a table for people. */
export function formatRuns(rows: readonly RunRow[], output: Output): string {
  const cells = rows.map((row) => [
    oneLine(row.name),
    row.kind,
    row.status,
    row.totalSteps === null ? String(row.step) : `${row.step}/${row.totalSteps}`,
    formatNumber(row.reward ?? undefined),
    formatNumber(row.loss ?? undefined),
    formatNumber(row.kl ?? undefined),
    formatStart(row.startedAt),
    row.seconds === null ? '–' : formatSeconds(row.seconds),
  ]);
  const [head, ...rest] = formatTable([headers, ...cells], 'lllrrrrll').split('\n');
  return [bold(head!, output), ...rest].join('\n');
}

/** A time in this machine's time zone.
 *  @example '2026-01-31T22:59:07.000Z' in UTC+1  →  '2026-01-31 23:59' */
export function formatStart(iso: string): string {
  const date = new Date(iso);
  const pad = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), pad(date.getMonth() + 1), pad(date.getDate())].join('-');
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** The run in a folder; throws if there is none.
 *  @param action what cannot be done without it, such as `compare` */
export async function expectRun(folder: string, action: string): Promise<FoundRun> {
  const found = await findRuns([folder]);
  const run = found.find((other) => other.folder === resolve(folder));
  if (run !== undefined) return run;
  const inside = found.slice(0, 3).map(({ name }) => name);
  const remedy =
    inside.length === 0
      ? '"proximal runs" lists the runs in a folder'
      : `it contains runs: ${inside.join(', ')}${found.length > 3 ? ', …' : ''}`;
  throw new Error(
    `Cannot ${action} ${folder}: it must be the folder of a run, got no run.json in it; ${remedy}`,
  );
}

/** A metric of each run; null if a run does not have it. */
interface ComparedNumber {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/** Runs side by side, in the order in which they were named. */
interface RunComparison {
  readonly runs: readonly RunRow[];
  /** Of the last step. */
  readonly metrics: readonly ComparedNumber[];
  /** Of the last evaluation. */
  readonly evaluation: readonly ComparedNumber[];
  /** Settings that differ. */
  readonly config: readonly Omit<ConfigRow, 'differs'>[];
}

type Numbers = Readonly<Record<string, unknown>>;

/** The folder of a run, and metrics that repeat another under a short name. */
const ignoredKeys = new Set(['output', 'policy_loss', 'value_loss', 'kl_div', 'avg_reward']);

/** Reads runs and compares their last numbers and their settings. */
export async function compareRuns(folders: readonly string[]): Promise<RunComparison> {
  const found = [];
  for (const folder of folders) found.push(await expectRun(folder, 'compare'));
  const rows = await readRunRows(folders);
  const paths = found.map(({ folder }) => locateRunFiles(folder));
  const last = await Promise.all(
    paths.map(async ({ metrics }) => (await readLastRecords(metrics)).at(-1)),
  );
  const evaluations = await Promise.all(
    paths.map(async ({ evaluations: path }) =>
      (await readRecords(path)).findLast((row) => !isHumanEvaluation(row)),
    ),
  );
  const configs = await Promise.all(
    paths.map(async ({ config }) => (await readJson(config)) ?? {}),
  );
  return {
    runs: found.map(({ folder }) => rows.find((row) => row.folder === folder)!),
    metrics: compareNumbers(last.map((record) => record ?? {})),
    evaluation: compareNumbers(evaluations.map(evaluationNumbers)),
    config: compareConfigs(configs)
      .filter(({ key, differs }) => differs && !ignoredKeys.has(key))
      .map(({ key, values }) => ({ key, values })),
  };
}

/** Numbers by name, in the order of the records.
 *  @example [{ a: 1 }, { a: 2, b: null }]  →  a: [1, 2], b: [null, null] */
function compareNumbers(records: readonly Numbers[]): ComparedNumber[] {
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  return [...names]
    .filter((name) => !ignoredKeys.has(name) && records.some((record) => isNumber(record[name])))
    .map((name) => ({
      name,
      values: records.map((record) => {
        const value = record[name];
        return isNumber(value) ? value : null;
      }),
    }));
}

/** An evaluation of PPO has its numbers in `performance`. */
function evaluationNumbers(row: LogRecord | EvaluationRow | undefined): Numbers {
  if (row === undefined) return {};
  const { performance } = row as { performance?: Numbers };
  return performance === undefined ? row : { step: row.step, ...performance };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

/** Longest setting that is shown in full. */
const MAX_SETTING = 40;

/** Formats runs side by side for people. */
export function formatComparison(comparison: RunComparison, output: Output): string {
  const { runs, metrics, evaluation, config } = comparison;
  const isPair = runs.length === 2;
  const options = { width: lineWidth(output) };
  const names = runs.map(({ name }) => oneLine(name));
  const align = `l${'r'.repeat(runs.length + Number(isPair))}`;
  const numbers = (rows: readonly ComparedNumber[]) =>
    formatTable(
      [['', ...names, ...(isPair ? ['difference'] : [])], ...rows.map((row) => cells(row, isPair))],
      align,
      options,
    );
  const settings = [
    ['', ...names],
    ...config.map(({ key, values }) => [key, ...values.map(formatSetting)]),
  ];
  const sections: readonly (readonly [string, string])[] = [
    ['Runs', formatTable([['', ...names], ...describeRuns(runs)], align, options)],
    ['Last step', metrics.length > 0 ? numbers(metrics) : ''],
    ['Last evaluation', evaluation.length > 0 ? numbers(evaluation) : ''],
    ['Settings that differ', config.length > 0 ? formatTable(settings, align, options) : '  none'],
  ];
  return formatSections(
    sections.filter(([, body]) => body !== ''),
    output,
  );
}

function describeRuns(runs: readonly RunRow[]): string[][] {
  const row = (name: string, format: (run: RunRow) => string) => [name, ...runs.map(format)];
  return [
    row('kind', ({ kind }) => kind),
    row('status', ({ status }) => status),
    row('step', ({ step, totalSteps }) => `${step}${totalSteps === null ? '' : `/${totalSteps}`}`),
    row('started', ({ startedAt }) => formatStart(startedAt)),
    row('time', ({ seconds }) => (seconds === null ? '–' : formatSeconds(seconds))),
  ];
}

function cells({ name, values }: ComparedNumber, isPair: boolean): string[] {
  const numbers = values.map((value) => (value === null ? '–' : fourDigits(value)));
  return [oneLine(name), ...numbers, ...(isPair ? [formatDifference(values)] : [])];
}

/** @example [1, 1.5]  →  '+0.5', [1, 1]  →  '' */
function formatDifference([a, b]: readonly (number | null)[]): string {
  if (a == null || b == null || a === b) return '';
  return `${b > a ? '+' : ''}${fourDigits(b - a)}`;
}

/** Four significant digits, also for small numbers such as learning rates.
 *  @example 0.0000123456  →  '0.00001235' */
function fourDigits(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function formatSetting(value: string | undefined): string {
  return value === undefined ? '–' : oneLine(shortPath(value), MAX_SETTING);
}

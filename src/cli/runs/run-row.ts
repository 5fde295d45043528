import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogRow, RunKindName, RunStatus } from '../../dashboard/api.ts';
import { type LogRecord, readLastRecords } from '../../dashboard/server/logs/log-records.ts';
import { type FoundRun, findRuns } from '../../dashboard/server/runs/find-runs.ts';
import {
  isLiving,
  kindOf,
  type ReadState,
  readJson,
  readState,
} from '../../dashboard/server/runs/read-state.ts';
import { locateRunFiles } from '../../run/run-folder.ts';
import { stateName } from '../../run/run-state.ts';

/** A run as it is listed. */
export interface RunRow {
  readonly name: string;
  readonly folder: string;
  readonly kind: RunKindName;
  readonly status: RunStatus;
  readonly message: string | null;
  readonly step: number;
  readonly totalSteps: number | null;
  readonly startedAt: string;
  /** From the start to the last sign of life; null where the clock went back meanwhile. */
  readonly seconds: number | null;
  /** Of the last step: the mean score of PPO's responses, the loss of the other stages. */
  readonly reward: number | null;
  readonly loss: number | null;
  readonly kl: number | null;
}

/** The runs in folders, the latest first. */
export async function readRunRows(folders: readonly string[], now = new Date()): Promise<RunRow[]> {
  const found = await findRuns(folders);
  const rows = await Promise.all(found.map((run) => readRunRow(run, now)));
  return rows
    .flatMap((row) => row ?? [])
    .sort((a, b) => compare(b.startedAt, a.startedAt) || compare(a.name, b.name));
}

/** Undefined where the run went away meanwhile. */
async function readRunRow({ name, folder }: FoundRun, now: Date): Promise<RunRow | undefined> {
  const state = await readState(folder);
  if (state === undefined) return undefined;
  const paths = locateRunFiles(folder);
  const last = (await readLastRecords(paths.metrics)).at(-1);
  const { status, message, step, totalSteps, startedAt } = state;
  return {
    ...{ name, folder, kind: kindOf((await readJson(paths.config)) ?? {}) },
    ...{ status, message, step, totalSteps, startedAt },
    seconds: secondsOf(state, isLiving(status) ? now : await lastSign(folder)),
    reward: numberOf(last, 'objective/scores'),
    loss: numberOf(last, 'train/loss'),
    kl: numberOf(last, 'objective/kl'),
  };
}

function secondsOf({ startedAt }: ReadState, end: Date): number | null {
  const seconds = (end.getTime() - new Date(startedAt).getTime()) / 1000;
  return seconds >= 0 ? seconds : null;
}

/** When a run that has ended last wrote something. */
async function lastSign(folder: string): Promise<Date> {
  const log = (await readLastRecords(join(folder, 'log.jsonl'))) as unknown as LogRow[];
  const said = new Date(log.at(-1)?.time ?? Number.NaN);
  return Number.isNaN(said.getTime()) ? (await stat(join(folder, stateName))).mtime : said;
}

function numberOf(record: LogRecord | undefined, name: string): number | null {
  const value = record?.[name];
  return typeof value === 'number' ? value : null;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

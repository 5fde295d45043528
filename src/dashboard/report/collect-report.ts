import { posix, win32 } from 'node:path';
import { hideUrlSecrets } from '../../http/index.ts';
import { locateRunFiles } from '../../run/run-folder.ts';
import type { ReportData, RunSummary, SampleRow, TokenColumns } from '../api.ts';
import type { FoundRun } from '../server/runs/find-runs.ts';
import { readJson } from '../server/runs/read-state.ts';
import { RunReader } from '../server/runs/run-reader.ts';
import { RunTables } from '../server/runs/run-tables.ts';

/** Number of metric rows in a report; a chart has fewer pixels. */
const points = 1500;

/** Collects the data of a report: everything but most samples, and without paths of this machine. */
export async function collectReport(
  found: FoundRun,
  { samples: count }: { readonly samples: number },
): Promise<ReportData> {
  const reader = new RunReader(found);
  await reader.update();
  const { summary } = reader;
  if (summary === undefined) {
    throw new Error(
      `Cannot make a report of ${found.folder}: the run was deleted while it was being read`,
    );
  }
  const tables = new RunTables(found.folder);
  const config = (await readJson(locateRunFiles(found.folder).config)) ?? {};
  const samples = await selectSamples(tables, count);
  const log = await tables.log();
  return {
    run: describeRun(summary, samples.length),
    config: hidePathsIn(config),
    metrics: await tables.metrics({ points }),
    evaluations: await tables.evaluations(),
    log: log.map((row) => ({ ...row, message: hidePaths(String(row.message)) })),
    samples,
    tokens: await readTokens(tables, samples),
  };
}

/** A report is a snapshot: it has no phase, no remaining time and no workers, whose names are those of
 *  machines, and counts its own samples. */
function describeRun(summary: RunSummary, samples: number): RunSummary {
  const { message, note, counts } = summary;
  return {
    ...summary,
    message: message === null ? null : hidePaths(message),
    note: hidePaths(note),
    phase: null,
    eta: null,
    workersAt: null,
    counts: { ...counts, samples },
  };
}

/** The newest samples, the first, the best, the worst and those with the highest KL. */
async function selectSamples(tables: RunTables, limit: number): Promise<SampleRow[]> {
  const newest = await tables.samples({ order: 'desc', limit });
  const first = await tables.samples({ limit });
  const best = await tables.samples({ sort: 'score', order: 'desc', limit });
  const worst = await tables.samples({ sort: 'score', order: 'asc', limit });
  const farthest = await tables.samples({ sort: 'kl', order: 'desc', limit });
  const notable = [first, best, worst, farthest].map(({ rows }) => rows);
  return pickSamples({ newest: newest.rows, notable }, limit);
}

async function readTokens(
  tables: RunTables,
  samples: readonly SampleRow[],
): Promise<Record<number, TokenColumns>> {
  const tokens: Record<number, TokenColumns> = {};
  for (const { index, hasTokens } of samples) {
    if (hasTokens) tokens[index] = await tables.tokens(index);
  }
  return tokens;
}

export interface SampleLists {
  /** The newest first. */
  readonly newest: readonly SampleRow[];
  /** Lists of notable samples, such as the first or the best, in order of importance. */
  readonly notable: readonly (readonly SampleRow[])[];
}

/** Picks `count` samples: half are the newest, the rest alternate between the other lists; missing
 *  ones are filled up with the newest. They are in the order of the file.
 *  @example newest 9 8 7 6, notable [0 1] and [5 9], count 4  →  0 5 8 9 */
export function pickSamples({ newest, notable }: SampleLists, count: number): SampleRow[] {
  const picked = new Map<number, SampleRow>();
  const fill = (rows: readonly SampleRow[], limit: number) => {
    for (const row of rows) if (picked.size < limit) picked.set(row.index, row);
  };
  fill(newest, Math.ceil(count / 2));
  fill(interleave(notable), count);
  fill(newest, count);
  return [...picked.values()].sort((a, b) => a.index - b.index);
}

/** @example [a b c] and [d]  →  a d b c */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) =>
    lists.flatMap((list) => list.slice(i, i + 1)),
  ).flat();
}

/** An absolute path in a text: at least two parts, so that a command such as /help does not match. */
const paths = /(?<=^|[\s"'`(=:,])(?:(?:\/[^\s/"'`(),:;]+){2,}\/?|[A-Za-z]:[\\/][^\s"'`(),;]+)/g;
/** A whole text that is a path; it may contain spaces and start with a scheme such as `model:`. */
const wholePath = /^([A-Za-z]{2,}:)?((?:\/[^/\n]+){2,}\/?|[A-Za-z]:[\\/][^\n]+)$/;

/** Shortens paths to their last part and removes passwords and queries from URLs.
 *  @example 'model:/home/me/runs/rm=2'  →  'model:rm=2'
 *  @example 'Saved /home/me/a/b.'  →  'Saved b.' */
export function hidePaths(text: string): string {
  const whole = wholePath.exec(text);
  if (whole !== null) return `${whole[1] ?? ''}${lastName(whole[2]!)}`;
  return hideUrlSecrets(text).replace(paths, lastName);
}

/** Applies hidePaths() to every text in a JSON value. */
export function hidePathsIn<T>(value: T): T {
  const hidden: unknown =
    typeof value === 'string'
      ? hidePaths(value)
      : Array.isArray(value)
        ? value.map(hidePathsIn)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, hidePathsIn(part)]))
          : value;
  return hidden as T;
}

function lastName(path: string): string {
  return path.startsWith('/') ? posix.basename(path) : win32.basename(path);
}

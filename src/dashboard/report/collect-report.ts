import { posix, win32 } from 'node:path';
import { locateRunFiles } from '../../run/run-folder.ts';
import type { ReportData, RunSummary, SampleRow, TokenColumns } from '../api.ts';
import type { FoundRun } from '../server/runs/find-runs.ts';
import { readJson } from '../server/runs/read-state.ts';
import { RunReader } from '../server/runs/run-reader.ts';
import { RunTables } from '../server/runs/run-tables.ts';

/** Rows of metrics in a report: a chart is narrower in pixels. */
const points = 1500;

/** Reads what a report says of a run: all but most of its samples, and nothing of where it lies. */
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
  const samples = await chooseSamples(tables, count);
  const log = await tables.log();
  return {
    run: describeRun(summary, samples.length),
    config: hidePlacesIn(config),
    metrics: await tables.metrics({ points }),
    evaluations: await tables.evaluations(),
    log: log.map((row) => ({ ...row, message: hidePlaces(String(row.message)) })),
    samples,
    tokens: await readTokens(tables, samples),
  };
}

/** A report is of one moment: nothing in it goes on. It counts the samples that it has. */
function describeRun(summary: RunSummary, samples: number): RunSummary {
  const { message, counts } = summary;
  return {
    ...summary,
    message: message === null ? null : hidePlaces(message),
    phase: null,
    eta: null,
    counts: { ...counts, samples },
  };
}

/** The newest samples, the first, the best, the worst and those farthest from the reference. */
async function chooseSamples(tables: RunTables, limit: number): Promise<SampleRow[]> {
  const newest = await tables.samples({ order: 'desc', limit });
  const first = await tables.samples({ limit });
  const best = await tables.samples({ sort: 'score', order: 'desc', limit });
  const worst = await tables.samples({ sort: 'score', order: 'asc', limit });
  const farthest = await tables.samples({ sort: 'kl', order: 'desc', limit });
  const telling = [first, best, worst, farthest].map(({ rows }) => rows);
  return pickSamples({ newest: newest.rows, telling }, limit);
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
  /** The latest first. */
  readonly newest: readonly SampleRow[];
  /** Others that tell something, such as the first or the best, each with the most telling first. */
  readonly telling: readonly (readonly SampleRow[])[];
}

/** Picks `count` samples: one half are the newest, the rest come from the other lists in turn; the
 *  newest fill up what is then missing. They are in the file's order.
 *  @example newest 9 8 7 6, telling [0 1] and [5 9], count 4  →  0 5 8 9 */
export function pickSamples({ newest, telling }: SampleLists, count: number): SampleRow[] {
  const picked = new Map<number, SampleRow>();
  const fill = (rows: readonly SampleRow[], limit: number) => {
    for (const row of rows) if (picked.size < limit) picked.set(row.index, row);
  };
  fill(newest, Math.ceil(count / 2));
  fill(interleave(telling), count);
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

/** A path from the root, in a text: two names or more, so that a command such as /help is none. */
const paths = /(?<=^|[\s"'`(=:,])(?:(?:\/[^\s/"'`(),:;]+){2,}\/?|[A-Za-z]:[\\/][^\s"'`(),;]+)/g;
/** The same as a whole text, in which names may hold spaces; before it perhaps a word such as `model:`. */
const wholePath = /^([A-Za-z]{2,}:)?((?:\/[^/\n]+){2,}\/?|[A-Za-z]:[\\/][^\n]+)$/;
const credentials = /(\bhttps?:\/\/)[^\s/@]*@/gi;
const queries = /(\bhttps?:\/\/[^\s?#"']+)\?[^\s"']*/gi;

/** A text for other people: of paths only the last name, of addresses neither password nor query.
 *  @example 'model:/home/me/runs/rm=2'  →  'model:rm=2'
 *  @example 'Saved /home/me/a/b.'  →  'Saved b.' */
export function hidePlaces(text: string): string {
  const whole = wholePath.exec(text);
  if (whole !== null) return `${whole[1] ?? ''}${lastName(whole[2]!)}`;
  return text.replace(credentials, '$1').replace(queries, '$1?…').replace(paths, lastName);
}

/** The same for every text in a value of JSON. */
export function hidePlacesIn<T>(value: T): T {
  const hidden: unknown =
    typeof value === 'string'
      ? hidePlaces(value)
      : Array.isArray(value)
        ? value.map(hidePlacesIn)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value).map(([key, part]) => [key, hidePlacesIn(part)]),
            )
          : value;
  return hidden as T;
}

function lastName(path: string): string {
  return path.startsWith('/') ? posix.basename(path) : win32.basename(path);
}

import { locateRunFiles } from '../../run/run-folder.ts';
import type { RunSummary, SampleRow, TokenColumns } from '../api.ts';
import type { FoundRun } from '../server/runs/find-runs.ts';
import { readJson } from '../server/runs/read-state.ts';
import { RunReader } from '../server/runs/run-reader.ts';
import { RunTables } from '../server/runs/run-tables.ts';
import { hidePlaces, hidePlacesIn } from './hide-places.ts';
import { pickSamples } from './pick-samples.ts';
import type { ReportData } from './report-data.ts';

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
    throw new Error(`Cannot make a report of ${found.folder}: the run went away while it was read`);
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

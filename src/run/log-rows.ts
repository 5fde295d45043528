import { join } from 'node:path';
import { z } from 'zod';
import { readOwnText, writeAtomically } from '../fs/index.ts';
import type { FoundCheckpoint } from '../loop/checkpoint-store.ts';
import { countLogRows } from './log-files.ts';
import { runFileNames } from './run-place.ts';

/** The logs that a resumed run continues. `log.jsonl` is not among them: other processes and failed
 *  attempts write to it too. */
export const countedLogs = ['metrics', 'samples', 'tokens', 'evaluations'] as const;

/** Number of rows in each log. */
export type LogRows = Readonly<Record<(typeof countedLogs)[number], number>>;

/** The rows of a new run. */
export const noRows: LogRows = { metrics: 0, samples: 0, tokens: 0, evaluations: 0 };

/** The file of a checkpoint with the number of rows that the logs had when it was saved. */
const rowsName = 'logs.json';

const count = z.int().min(0);
const rowsSchema = z.strictObject({
  metrics: count,
  samples: count,
  tokens: count,
  evaluations: count,
});

/** Writes the number of rows into the folder of a checkpoint. */
export async function writeLogRows(checkpoint: string, rows: LogRows): Promise<void> {
  await writeAtomically(join(checkpoint, rowsName), `${JSON.stringify(rows)}\n`);
}

/** Reads what `writeLogRows` wrote; undefined in a checkpoint of an earlier version. */
export async function readLogRows(checkpoint: string): Promise<LogRows | undefined> {
  const text = await readOwnText(join(checkpoint, rowsName));
  return text === undefined ? undefined : rowsSchema.parse(JSON.parse(text));
}

/** Whether to continue with incomplete logs. */
interface MissingRows {
  readonly allowMissing: boolean;
}

/** Requires that the logs of a run have the rows that they had when a checkpoint was saved. Returns
 *  sentences about missing rows if they are allowed. */
export async function expectLogRows(
  run: string,
  checkpoint: FoundCheckpoint | undefined,
  { allowMissing }: MissingRows,
): Promise<string[]> {
  const needed = checkpoint && (await readLogRows(checkpoint.folder));
  if (checkpoint === undefined || needed === undefined) return [];
  const { step } = checkpoint;
  const missing: string[] = [];
  for (const log of countedLogs) {
    const rows = await countLogRows(join(run, runFileNames[log]), step);
    if (rows >= needed[log]) continue;
    missing.push(
      `${runFileNames[log]} must have ${needed[log]} rows up to step ${step}, got ${rows}`,
    );
  }
  if (missing.length > 0 && !allowMissing) {
    throw new Error(
      `Cannot resume ${run}: ${missing.join(', ')}; restore the rows, start a new run, or continue without them by --allow-changed-inputs`,
    );
  }
  return missing.map((sentence) => `Resuming without rows of a log: ${sentence}`);
}

import { appendJsonLines, explainSystemError, parseJsonObject } from '../fs/index.ts';
import {
  type HumanEvaluation,
  type HumanEvaluationRow,
  latestHumanEvaluations,
} from './human-evaluation.ts';
import { readLogLines } from './log-files.ts';
import { locateRunFiles } from './run-folder.ts';
import { readRunState } from './run-state.ts';

/** The latest evaluation of each label queue that compares a run's policy, in the order of their steps.
 *  @example const [{ step, human }] = await readHumanEvaluations('runs/a'); */
export async function readHumanEvaluations(run: string): Promise<HumanEvaluationRow[]> {
  const path = locateRunFiles(run).evaluations;
  const rows: object[] = [];
  for (const line of await readLogLines(path)) {
    // The last line of an active run may be incomplete.
    if (line.endsWith('}')) rows.push(parseJsonObject(line, path));
  }
  return latestHumanEvaluations(rows);
}

/** Adds an evaluation by people to a run's evaluations, unless the latest one of its queue is the same.
 *  Returns whether it is new; a run that was deleted takes none. */
export async function recordHumanEvaluation(
  run: string,
  row: HumanEvaluationRow,
): Promise<boolean> {
  if ((await readRunState(run)) === undefined) return false;
  const known = (await readHumanEvaluations(run)).find(
    ({ human }) => human.queue === row.human.queue,
  );
  if (known !== undefined && isSame(known.human, row.human)) return false;
  const path = locateRunFiles(run).evaluations;
  try {
    appendJsonLines(path, [row]);
  } catch (error) {
    throw explainSystemError(error, {
      action: `write ${path}`,
      next: `run "proximal labels results ${row.human.queue}"`,
    });
  }
  return true;
}

function isSame({ time: _, ...a }: HumanEvaluation, { time: __, ...b }: HumanEvaluation): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

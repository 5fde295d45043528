import type { EvaluationReport, Performance } from '../loop/evaluation-report.ts';
import { readJsonLines } from './read-json-lines.ts';
import { locateRunFiles } from './run-folder.ts';

/** An evaluation as a run wrote it down. */
interface RunEvaluation extends EvaluationReport {
  readonly step: number;
}

export interface FirstAndLast {
  readonly first: RunEvaluation;
  readonly last: RunEvaluation;
}

/** A run's first evaluation and its last, which may be the same; undefined if there is none. */
export async function readFirstAndLast(run: string): Promise<FirstAndLast | undefined> {
  const lines = await readJsonLines(locateRunFiles(run).evaluations);
  if (lines.length === 0) return undefined;
  return { first: parse(lines[0]!), last: parse(lines.at(-1)!) };
}

/** JSON has null where a number was NaN. */
function parse(line: string): RunEvaluation {
  const { performance, ...rest } = JSON.parse(line) as RunEvaluation;
  const numbers = Object.entries(performance).map(([name, value]) => [name, value ?? Number.NaN]);
  return { ...rest, performance: Object.fromEntries(numbers) as unknown as Performance };
}

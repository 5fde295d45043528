import type { Metrics } from '../loop/records.ts';
import { readJsonLines } from './read-json-lines.ts';
import { locateRunFiles } from './run-folder.ts';

/** How a stage did on what it does not learn from. */
export interface StageValidation {
  readonly step: number;
  readonly metrics: Metrics;
}

export interface FirstAndLastValidation {
  readonly first: StageValidation;
  readonly last: StageValidation;
}

/** The first validation of a stage's run and its last; undefined if there is none. */
export async function readValidations(run: string): Promise<FirstAndLastValidation | undefined> {
  const lines = await readJsonLines(locateRunFiles(run).evaluations);
  if (lines.length === 0) return undefined;
  return { first: parse(lines[0]!), last: parse(lines.at(-1)!) };
}

/** JSON has null where a number was NaN. */
function parse(line: string): StageValidation {
  const { step, ...metrics } = JSON.parse(line, (_, value) => value ?? Number.NaN);
  return { step, metrics };
}

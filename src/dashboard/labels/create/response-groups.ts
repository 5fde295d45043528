import { z } from 'zod';

import { type DataRow, kindOf, listColumns } from '../../../data/data-row.ts';
import { readInSandbox, readJsonLines } from '../../../data/file-rows.ts';
import { expectOwnFile } from '../../../fs/index.ts';
import { locateRunFiles } from '../../../run/run-folder.ts';
import { RequestError } from '../../server/http/request-error.ts';
import type { StoredResponse } from '../queue-schema.ts';
import { differentResponses, type ResponseGroup } from './make-tasks.ts';

export interface GroupsFromFileOptions {
  /** Name of the file in errors. */
  readonly name: string;
  /** Number of different responses that every row must have. */
  readonly min: number;
  readonly max: number;
}

/** The rows of a file: { prompt, responses } or { prompt, chosen, rejected }. They are parsed in the
 *  sandbox, because a dashboard may run in the process of a training. */
export async function groupsFromFile(
  path: string,
  options: GroupsFromFileOptions,
): Promise<ResponseGroup[]> {
  const groups: ResponseGroup[] = [];
  for await (const row of readInSandbox({ path, name: options.name }))
    groups.push(toGroup(row, options));
  return groups;
}

function toGroup(row: DataRow, { min, max }: GroupsFromFileOptions): ResponseGroup {
  const { columns, origin } = row;
  const prompt = expectText(columns.prompt, { origin, column: 'prompt' });
  const texts = readResponses(row);
  const responses = texts.map(({ text, column }, place) => ({
    text: expectText(text, { origin, column }),
    from: { row: origin, column, place },
  }));
  const different = differentResponses(responses);
  if (different.length >= min && different.length <= max) return { prompt, responses: different };
  const wanted = max === Infinity ? `at least ${min}` : `${min} to ${max}`;
  const noun = wanted.endsWith(' 1') ? 'response' : 'different responses';
  throw fault(origin, `it must have ${wanted} ${noun}, got ${different.length}`);
}

function readResponses(row: DataRow): { readonly text: unknown; readonly column: string }[] {
  const { responses, chosen, rejected } = row.columns;
  if (Array.isArray(responses)) return responses.map((text) => ({ text, column: 'responses' }));
  if (responses !== undefined) {
    throw fault(row.origin, `"responses" must be a list, got ${kindOf(responses)}`);
  }
  if (chosen !== undefined && rejected !== undefined) {
    return [
      { text: chosen, column: 'chosen' },
      { text: rejected, column: 'rejected' },
    ];
  }
  throw fault(
    row.origin,
    `it must have "responses", or "chosen" and "rejected", got ${listColumns(row)}`,
  );
}

function expectText(
  value: unknown,
  { origin, column }: { readonly origin: string; readonly column: string },
): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  const got = typeof value === 'string' ? 'none' : kindOf(value);
  throw fault(origin, `"${column}" must be text, got ${got}`);
}

function fault(origin: string, what: string): RequestError {
  return new RequestError(400, `Cannot read ${origin}: ${what}`);
}

/** A run whose samples can be labelled. */
export interface LabelRun {
  /** Id in the API. */
  readonly id: string;
  readonly name: string;
  readonly folder: string;
}

const sampleSchema = z.object({
  step: z.number(),
  sample: z.number(),
  prompt: z.string(),
  response: z.string(),
});

/** The responses in a run's `samples.jsonl` by prompt, without duplicates. Invalid lines, such as the
 *  incomplete last line of an active run, are ignored. */
export async function groupsFromSamples(
  run: LabelRun,
  { fromStep = 0 }: { readonly fromStep?: number | undefined } = {},
): Promise<ResponseGroup[]> {
  const { samples } = locateRunFiles(run.folder);
  if (!(await expectOwnFile(samples))) {
    throw new RequestError(
      400,
      `Cannot take samples of ${run.name}: the run has not recorded any yet`,
    );
  }
  const prompts = new Map<string, StoredResponse[]>();
  const file = { path: samples, name: samples };
  for await (const { columns } of readJsonLines(file, () => {})) {
    const { data } = sampleSchema.safeParse(columns);
    if (data === undefined || data.step < fromStep || data.prompt.trim() === '') continue;
    const { prompt, response: text, step, sample } = data;
    const responses = prompts.get(prompt) ?? [];
    prompts.set(prompt, responses);
    responses.push({ text, from: { run: run.name, step, sample } });
  }
  return [...prompts].map(([prompt, responses]) => ({
    prompt,
    responses: differentResponses(responses),
  }));
}

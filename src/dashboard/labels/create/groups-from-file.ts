import { type DataRow, kindOf, listColumns } from '../../../data/data-row.ts';
import { readFileRows } from '../../../data/file-rows.ts';
import { Refusal } from '../../server/http/refusal.ts';
import { differentResponses, type ResponseGroup } from './make-tasks.ts';

export interface GroupsFromFileOptions {
  /** What errors call the file. */
  readonly name: string;
  /** Different responses that every row must have. */
  readonly least: number;
  readonly most: number;
}

/** The rows of a file: { prompt, responses } or { prompt, chosen, rejected }. */
export async function groupsFromFile(
  path: string,
  options: GroupsFromFileOptions,
): Promise<ResponseGroup[]> {
  const groups: ResponseGroup[] = [];
  for await (const row of readFileRows({ path, name: options.name }))
    groups.push(toGroup(row, options));
  return groups;
}

function toGroup(row: DataRow, { least, most }: GroupsFromFileOptions): ResponseGroup {
  const { columns, origin } = row;
  const prompt = expectText(columns.prompt, { origin, column: 'prompt' });
  const texts = readResponses(row);
  const responses = texts.map(({ text, column }, place) => ({
    text: expectText(text, { origin, column }),
    from: { row: origin, column, place },
  }));
  const different = differentResponses(responses);
  if (different.length >= least && different.length <= most)
    return { prompt, responses: different };
  const wanted = most === Infinity ? `at least ${least}` : `${least} to ${most}`;
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

function fault(origin: string, what: string): Refusal {
  return new Refusal(400, `Cannot read ${origin}: ${what}`);
}

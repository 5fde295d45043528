import { rm } from 'node:fs/promises';
import { Hono, type HonoRequest } from 'hono';
import { z } from 'zod';
import { explainSystemError, writeAtomically } from '../../../fs/index.ts';
import { readWorkersFile } from '../../../queue/workers-file.ts';
import { runCommands } from '../../../run/run-control.ts';
import { locateRunFiles } from '../../../run/run-folder.ts';
import { type ControlCommand, maxNoteLength } from '../../api.ts';
import { isLiving, readJson } from '../runs/read-state.ts';
import type { RunLibrary } from '../runs/run-library.ts';
import { RequestError } from './request-error.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const step = wholeNumber(0, MAX);

const metricFields = { points: wholeNumber(3, 1_000_000), from: step };

const sampleFields = {
  offset: wholeNumber(0, MAX),
  limit: wholeNumber(1, 500),
  search: shortText(500),
  promptIdx: wholeNumber(0, MAX),
  fromStep: step,
  toStep: step,
  minScore: anyNumber(),
  maxScore: anyNumber(),
  tool: shortText(200),
  toolError: shortText(50),
  sort: oneOf('step', 'score', 'kl', 'length'),
  order: oneOf('asc', 'desc'),
};

const indexField = wholeNumber(0, MAX);

const noteSchema = z.strictObject({ note: z.string().max(maxNoteLength) });

const controlSchema = z.strictObject({ command: z.enum(runCommands) });

export type RequestControl = (folder: string, command: ControlCommand) => Promise<void>;

/** The routes of runs: `api/runs` and below. */
export function runRoutes(library: RunLibrary, control: RequestControl): Hono {
  const routes = new Hono();
  routes.get('/', async (context) => {
    await library.refresh({ all: true });
    return context.json(library.list());
  });
  routes.get('/:id/config', async (context) => {
    const { folder } = await library.get(context.req.param('id'));
    return context.json((await readJson(locateRunFiles(folder).config)) ?? {});
  });
  routes.get('/:id/metrics', async ({ req, json }) => {
    const tables = await library.open(req.param('id'));
    return json(await tables.metrics(readQuery(req, metricFields)));
  });
  routes.get('/:id/evaluations', async ({ req, json }) => {
    const tables = await library.open(req.param('id'));
    return json(await tables.evaluations());
  });
  routes.get('/:id/log', async ({ req, json }) => {
    const tables = await library.open(req.param('id'));
    return json(await tables.log());
  });
  routes.get('/:id/workers', async ({ req, json }) => {
    const { folder } = await library.get(req.param('id'));
    return json((await readWorkersFile(locateRunFiles(folder).workers)) ?? null);
  });
  routes.get('/:id/samples', async ({ req, json }) => {
    const tables = await library.open(req.param('id'));
    return json(await tables.samples(readQuery(req, sampleFields)));
  });
  routes.get('/:id/samples/:index/tokens', async ({ req, json }) => {
    const tables = await library.open(req.param('id'));
    const index = indexField.parse(req.param('index'));
    if (index === undefined)
      throw new RequestError(400, `A sample's index must be ${indexField.rule}`);
    return json(await tables.tokens(index));
  });
  routes.post('/:id/control', async ({ req, body }) => {
    const command = await readCommand(await req.text());
    await controlRun(library, { id: req.param('id'), command, control });
    return body(null, 204);
  });
  routes.post('/:id/note', async ({ req, body }) => {
    const note = readNote(await req.text());
    const { folder } = await library.get(req.param('id'));
    await writeNote(folder, note);
    await library.refresh({ all: true });
    return body(null, 204);
  });
  return routes;
}

function readNote(body: string): string {
  const { data } = noteSchema.safeParse(parseBody(body));
  if (data !== undefined) return data.note.trim();
  throw new RequestError(
    400,
    `The body must be {"note": …} with a text of at most ${maxNoteLength} characters`,
  );
}

/** Writes the note into the run's folder; an empty one is removed. */
async function writeNote(folder: string, note: string): Promise<void> {
  const path = locateRunFiles(folder).note;
  try {
    if (note === '') await rm(path, { force: true });
    else await writeAtomically(path, `${JSON.stringify({ note })}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS')
      throw explainSystemError(error, { action: 'save the note', next: 'try again' });
    throw new RequestError(409, "Cannot save the note: the run's folder must be writable");
  }
}

async function readCommand(body: string): Promise<ControlCommand> {
  const { data } = controlSchema.safeParse(parseBody(body));
  if (data !== undefined) return data.command;
  throw new RequestError(
    400,
    `The body must be {"command": …} with one of ${runCommands.join(', ')}`,
  );
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function controlRun(
  library: RunLibrary,
  options: {
    readonly id: string;
    readonly command: ControlCommand;
    readonly control: RequestControl;
  },
): Promise<void> {
  const { id, command, control } = options;
  await library.refresh({ all: true });
  const { folder, summary } = await library.get(id);
  if (summary === undefined || !isLiving(summary.status)) {
    const status = summary?.status ?? 'unknown';
    throw new RequestError(409, `Cannot ${command} this run: it must be active, got ${status}`);
  }
  await control(folder, command).catch((error: unknown) => {
    throw explainSystemError(error, { action: `${command} this run`, next: 'try again' });
  });
  await library.refresh({ all: true });
}

/** Parses a query parameter; undefined if the text is not valid. */
interface QueryField<T> {
  readonly rule: string;
  parse(text: string): T | undefined;
}

function wholeNumber(min: number, max: number): QueryField<number> {
  return {
    rule: `a whole number from ${min} to ${max}`,
    parse: (text) => (/^\d{1,15}$/.test(text) ? within(Number(text), min, max) : undefined),
  };
}

function anyNumber(): QueryField<number> {
  return {
    rule: 'a number',
    parse: (text) =>
      /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
        ? within(Number(text), -Number.MAX_VALUE, Number.MAX_VALUE)
        : undefined,
  };
}

function shortText(max: number): QueryField<string> {
  return {
    rule: `a text of at most ${max} characters`,
    parse: (text) => (text.length <= max ? text : undefined),
  };
}

function oneOf<const T extends string>(...names: readonly T[]): QueryField<T> {
  return {
    rule: `one of ${names.join(', ')}`,
    parse: (text) => names.find((name) => name === text),
  };
}

type Values<F> = { [K in keyof F]?: F[K] extends QueryField<infer T> ? T : never };

/** Parses the parameters of a request; unknown ones are rejected. */
function readQuery<F extends Readonly<Record<string, QueryField<unknown>>>>(
  req: HonoRequest,
  fields: F,
): Values<F> {
  const { token: _, ...given } = req.query();
  const values = Object.entries(given).map(([name, text]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      const known = Object.keys(fields).join(', ');
      throw new RequestError(400, `Unknown parameter ${show(name)}; use one of ${known}`);
    }
    const value = field.parse(text);
    if (value !== undefined) return [name, value];
    throw new RequestError(
      400,
      `Cannot use "${name}": it must be ${field.rule}, got ${show(text)}`,
    );
  });
  return Object.fromEntries(values) as Values<F>;
}

function within(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

function show(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

import { Hono } from 'hono';
import { z } from 'zod';
import { runCommands } from '../../../run/run-control.ts';
import { locateRunFiles } from '../../../run/run-folder.ts';
import type { ControlCommand } from '../../api.ts';
import { isLiving, readJson } from '../runs/read-state.ts';
import type { RunLibrary } from '../runs/run-library.ts';
import { anyNumber, oneOf, readQuery, shortText, wholeNumber } from './query.ts';
import { Refusal } from './refusal.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const step = wholeNumber(0, MOST);

const metricFields = { points: wholeNumber(3, 1_000_000), from: step };

const sampleFields = {
  offset: wholeNumber(0, MOST),
  limit: wholeNumber(1, 500),
  search: shortText(500),
  promptIdx: wholeNumber(0, MOST),
  fromStep: step,
  toStep: step,
  minScore: anyNumber(),
  maxScore: anyNumber(),
  sort: oneOf('step', 'score', 'kl', 'length'),
  order: oneOf('asc', 'desc'),
};

const indexField = wholeNumber(0, MOST);

const controlSchema = z.strictObject({ command: z.enum(runCommands) });

export type RequestControl = (folder: string, command: ControlCommand) => Promise<void>;

/** What pages ask of runs: `api/runs` and all below. */
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
  routes.get('/:id/samples', async ({ req, json }) => {
    const tables = await library.open(req.param('id'));
    return json(await tables.samples(readQuery(req, sampleFields)));
  });
  routes.get('/:id/samples/:index/tokens', async ({ req, json }) => {
    const tables = await library.open(req.param('id'));
    const index = indexField.parse(req.param('index'));
    if (index === undefined) throw new Refusal(400, `A sample's index must be ${indexField.rule}`);
    return json(await tables.tokens(index));
  });
  routes.post('/:id/control', async ({ req, body }) => {
    const command = await readCommand(await req.text());
    await controlRun(library, { id: req.param('id'), command, control });
    return body(null, 204);
  });
  return routes;
}

async function readCommand(body: string): Promise<ControlCommand> {
  const { data } = controlSchema.safeParse(parseBody(body));
  if (data !== undefined) return data.command;
  throw new Refusal(400, `The body must be {"command": …} with one of ${runCommands.join(', ')}`);
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
  given: {
    readonly id: string;
    readonly command: ControlCommand;
    readonly control: RequestControl;
  },
): Promise<void> {
  const { id, command, control } = given;
  await library.refresh({ all: true });
  const { folder, summary } = await library.get(id);
  if (summary === undefined || !isLiving(summary.status)) {
    const status = summary?.status ?? 'unknown';
    throw new Refusal(409, `Cannot ${command} this run: it must be under way, got ${status}`);
  }
  await control(folder, command);
  await library.refresh({ all: true });
}

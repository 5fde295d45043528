import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { NewQueue, QueueSource } from '../../api.ts';
import { Refusal } from '../../server/http/request-error.ts';
import { mostResponses } from '../parse-request.ts';
import type { StoredTask } from '../queue-schema.ts';
import { makeTasks, type ResponseGroup } from './make-tasks.ts';
import { groupsFromFile, groupsFromSamples, type LabelRun } from './response-groups.ts';

export interface CreateOptions {
  /** The same seed chooses the same tasks; 0 by default. */
  readonly seed?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called while a model generates, with prompts done and all of them. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

interface Context extends CreateOptions {
  readonly runs: () => Promise<readonly LabelRun[]>;
  /** Where files must lie; anywhere if not given. */
  readonly roots: readonly string[] | undefined;
}

const usualRanking = 4;

/** The tasks of a new queue. */
export async function createTasks(queue: NewQueue, context: Context): Promise<StoredTask[]> {
  const { source, limit = 100 } = queue;
  const size = sizeOf(queue);
  const { seed = 0 } = context;
  const groups = await readGroups(source, { ...context, size, limit, seed }).catch((error) => {
    throw toRefusal(error, context.signal);
  });
  const tasks = makeTasks(groups, { responses: size, limit, seed });
  if (tasks.length > 0) return tasks;
  const what =
    size === 1 ? 'a response with text' : `${size ?? 2} different responses to one prompt`;
  throw new Refusal(
    400,
    `Cannot create the queue: its source must have ${what}, got none among ${groups.length} ${groups.length === 1 ? 'prompt' : 'prompts'}`,
  );
}

/** Responses of a task; undefined for as many as a file's row has. */
function sizeOf({ kind, responses, source }: NewQueue): number | undefined {
  if (kind === 'ranking') {
    const usual = source.from === 'file' ? undefined : usualRanking;
    if (responses !== 1) return responses ?? usual;
    throw new Refusal(
      400,
      'Cannot create the queue: responses of a ranking must be at least 2, got 1',
    );
  }
  const only = kind === 'pair' ? 2 : 1;
  if (responses === undefined || responses === only) return only;
  throw new Refusal(
    400,
    `Cannot create the queue: responses of a ${kind} must be ${only}, got ${responses}; leave it out`,
  );
}

interface GroupContext extends Context {
  readonly size: number | undefined;
  readonly limit: number;
  readonly seed: number;
}

async function readGroups(source: QueueSource, context: GroupContext): Promise<ResponseGroup[]> {
  const { size, roots } = context;
  switch (source.from) {
    case 'samples':
      return groupsFromSamples(await findRun(source.run, context), source);
    case 'file': {
      const path = await expectFile(source.file, roots);
      const most = size === undefined ? mostResponses : Infinity;
      return groupsFromFile(path, { name: source.file, least: size ?? 2, most });
    }
    case 'generate': {
      const prompts = fromHere(await expectFile(source.prompts, roots));
      // What is not there may be an id on the hub, which loading checks.
      const found = await findInside(source.model, roots);
      const model = found === undefined ? source.model : fromHere(found);
      const { groupsFromModel } = await import('./groups-from-model.ts');
      const { maxNewTokens, model: name } = source;
      return groupsFromModel({ ...context, model, name, prompts, maxNewTokens, samples: size! });
    }
  }
}

async function findRun(id: string, { runs }: Context): Promise<LabelRun> {
  const run = (await runs()).find((other) => other.id === id);
  if (run !== undefined) return run;
  throw new Refusal(
    404,
    `Cannot create the queue: run must be the id of one that is shown, got ${JSON.stringify(id)}`,
  );
}

async function expectFile(path: string, roots: readonly string[] | undefined): Promise<string> {
  const found = await findInside(path, roots);
  // Another thing, such as a pipe, could keep its reader waiting for ever.
  if (found !== undefined && (await stat(found)).isFile()) return found;
  const got = found === undefined ? 'nothing there' : 'something else';
  throw new Refusal(400, `Cannot read ${path}: it must be a file, got ${got}`);
}

/** What is wrong with a file or a model is for whoever named it; our own bugs are not. */
function toRefusal(error: unknown, signal: AbortSignal | undefined): unknown {
  const isTheirs = error instanceof Error && !error.message.startsWith('Internal:');
  if (error instanceof Refusal || !isTheirs || signal?.aborted) return error;
  return new Refusal(400, error.message);
}

/** The real path of what lies at `path`, links followed; undefined if nothing is there.
 *  @param roots where it must lie; anywhere if not given. Nothing outside is looked at. */
export async function findInside(
  path: string,
  roots: readonly string[] | undefined,
): Promise<string | undefined> {
  const absolute = resolve(path);
  const given = roots?.map((root) => resolve(root));
  const real = given && (await Promise.all(given.map((root) => realPathOf(root))));
  const inReal = real?.filter((root) => root !== undefined);
  expectInside(absolute, { path, roots: given && [...given, ...inReal!] });
  const found = await realPathOf(absolute);
  if (found !== undefined) expectInside(found, { path, roots: inReal });
  return found;
}

/** A path as it is from here, where it lies here: shorter in errors. */
export function fromHere(path: string): string {
  const here = relative(process.cwd(), path);
  return here !== '' && isWithin(here) ? here : path;
}

function expectInside(
  place: string,
  { path, roots }: { readonly path: string; readonly roots: readonly string[] | undefined },
): void {
  if (roots === undefined || roots.some((root) => isWithin(relative(root, place)))) return;
  throw new Refusal(
    403,
    `Cannot use ${path}: it must lie in the folder that the dashboard was started in, or in one that it shows, got another place; copy it there`,
  );
}

function isWithin(way: string): boolean {
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

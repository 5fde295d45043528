import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { NewQueue, QueueSource } from '../../api.ts';
import { RequestError } from '../../server/http/request-error.ts';
import { maxResponses } from '../parse-request.ts';
import type { StoredTask } from '../queue-schema.ts';
import { buildTasks, type ResponseGroup } from './make-tasks.ts';
import { groupsFromFile, groupsFromSamples, type LabelRun } from './response-groups.ts';

export interface CreateOptions {
  /** The same seed selects the same tasks; 0 by default. */
  readonly seed?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called while a model generates, with the number of prompts done and in total. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

interface Context extends CreateOptions {
  readonly runs: () => Promise<readonly LabelRun[]>;
  /** Folders that files must be in; anywhere if undefined. */
  readonly roots: readonly string[] | undefined;
}

const defaultRankingSize = 4;

/** The tasks of a new queue. */
export async function createTasks(queue: NewQueue, context: Context): Promise<StoredTask[]> {
  const { source, limit = 100 } = queue;
  const size = sizeOf(queue);
  const { seed = 0 } = context;
  const groups = await readGroups(source, { ...context, size, limit, seed }).catch((error) => {
    throw toRequestError(error, context.signal);
  });
  const tasks = buildTasks(groups, { responses: size, limit, seed });
  if (tasks.length > 0) return tasks;
  const what =
    size === 1 ? 'a response with text' : `${size ?? 2} different responses to one prompt`;
  throw new RequestError(
    400,
    `Cannot create the queue: its source must have ${what}, but has none among ${groups.length} ${groups.length === 1 ? 'prompt' : 'prompts'}`,
  );
}

/** Number of responses per task; undefined takes all of a file's row. */
function sizeOf({ kind, responses, source }: NewQueue): number | undefined {
  if (kind === 'ranking') {
    const usual = source.from === 'file' ? undefined : defaultRankingSize;
    if (responses !== 1) return responses ?? usual;
    throw new RequestError(
      400,
      'Cannot create the queue: responses of a ranking must be at least 2, got 1',
    );
  }
  const only = kind === 'pair' ? 2 : 1;
  if (responses === undefined || responses === only) return only;
  throw new RequestError(
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
      const max = size === undefined ? maxResponses : Infinity;
      return groupsFromFile(path, { name: source.file, min: size ?? 2, max });
    }
    case 'generate': {
      const prompts = fromHere(await expectFile(source.prompts, roots));
      // If the path does not exist, it may be an id on the hub; loading checks that.
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
  throw new RequestError(
    404,
    `Cannot create the queue: run must be the id of a listed run, got ${JSON.stringify(id)}`,
  );
}

async function expectFile(path: string, roots: readonly string[] | undefined): Promise<string> {
  const found = await findInside(path, roots);
  // Reading a pipe, for example, could block forever.
  if (found !== undefined && (await stat(found)).isFile()) return found;
  const got = found === undefined ? 'no such file' : 'something else';
  throw new RequestError(400, `Cannot read ${path}: it must be a file, got ${got}`);
}

/** Errors in the user's file or model become request errors; internal ones do not. */
function toRequestError(error: unknown, signal: AbortSignal | undefined): unknown {
  const isUserError = error instanceof Error && !error.message.startsWith('Internal:');
  if (error instanceof RequestError || !isUserError || signal?.aborted) return error;
  return new RequestError(400, error.message);
}

/** The real path of a file, with links resolved; undefined if it does not exist.
 *  @param roots folders that it must be in; anywhere if undefined. Nothing outside is accessed. */
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

/** A path relative to the working directory if it is inside, which is shorter in errors. */
export function fromHere(path: string): string {
  const here = relative(process.cwd(), path);
  return here !== '' && isWithin(here) ? here : path;
}

function expectInside(
  place: string,
  { path, roots }: { readonly path: string; readonly roots: readonly string[] | undefined },
): void {
  if (roots === undefined || roots.some((root) => isWithin(relative(root, place)))) return;
  throw new RequestError(
    403,
    `Cannot use ${path}: it must be in the folder where the dashboard was started, or in a folder that it shows; copy it there`,
  );
}

function isWithin(path: string): boolean {
  return path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
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

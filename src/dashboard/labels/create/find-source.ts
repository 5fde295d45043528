import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { RequestError } from '../../server/http/request-error.ts';
import type { LabelRun } from './response-groups.ts';

export interface CreateOptions {
  /** The same seed selects the same tasks; 0 by default. */
  readonly seed?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called while a model generates, with the number of prompts done and in total. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface CreateContext extends CreateOptions {
  readonly runs: () => Promise<readonly LabelRun[]>;
  /** Folders that files must be in; anywhere if undefined. */
  readonly roots: readonly string[] | undefined;
}

/** The run with an id. */
export async function findRun(
  id: string,
  { runs }: Pick<CreateContext, 'runs'>,
): Promise<LabelRun> {
  const run = (await runs()).find((other) => other.id === id);
  if (run !== undefined) return run;
  throw new RequestError(
    404,
    `Cannot create the queue: run must be the id of a listed run, got ${JSON.stringify(id)}`,
  );
}

/** The real path of a file of the user. */
export async function expectFile(
  path: string,
  roots: readonly string[] | undefined,
): Promise<string> {
  const found = await findInside(path, roots);
  // Reading a pipe, for example, could block forever.
  if (found !== undefined && (await stat(found)).isFile()) return found;
  const got = found === undefined ? 'no such file' : 'something else';
  throw new RequestError(400, `Cannot read ${path}: it must be a file, got ${got}`);
}

/** Errors in the user's file or model become request errors; internal ones do not. */
export function toRequestError(error: unknown, signal: AbortSignal | undefined): unknown {
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

import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { Refusal } from '../server/http/refusal.ts';

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

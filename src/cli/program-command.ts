import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellQuote } from './format.ts';

/** The folder of this package, in a clone or installed. */
const packageFolder = fileURLToPath(new URL('../..', import.meta.url));

/** Where the program is called from. */
export interface CallingPlace {
  /** The folder of this package. */
  readonly root?: string;
  /** The current folder. */
  readonly folder?: string;
  /** The folders of PATH. */
  readonly path?: readonly string[];
}

/** A command line of this program that works in the current folder.
 *  @example 'train --help' in a clone  →  'npx proximal train --help' */
export function commandLine(args: string): string {
  return `${programCommand()} ${args}`;
}

/** How to call this program: `proximal` if it is on the path, `npx proximal` if npx finds it from the
 *  folder, otherwise by its file. */
export function programCommand({
  root = packageFolder,
  folder = process.cwd(),
  path = (process.env.PATH ?? '').split(delimiter),
}: CallingPlace = {}): string {
  const own = realpathSync(root);
  // npm and npx add these folders to the path of the commands that they run, not to the shell's.
  const shellPath = path.filter((place) => basename(place) !== '.bin');
  if (shellPath.some((place) => isInstalledIn(place, own))) return 'proximal';
  const parents = parentsOf(folder);
  const isDependency = parents.some((parent) =>
    leadsTo(join(parent, 'node_modules/proximal'), own),
  );
  const isFromCache = own.includes(`${sep}_npx${sep}`);
  if (isDependency || isFromCache || isClone(parents, own)) return 'npx proximal';
  return `node ${shellQuote(join(own, 'bin/proximal.mjs'))}`;
}

/** Whether a folder of the path has this program: a link to it or, on Windows, a script next to it. */
function isInstalledIn(place: string, root: string): boolean {
  return (
    leadsTo(join(place, 'proximal'), join(root, 'bin/proximal.mjs')) ||
    leadsTo(join(place, 'node_modules/proximal'), root)
  );
}

/** Whether npm's current package is this one: the nearest folder with a package. */
function isClone(parents: readonly string[], root: string): boolean {
  const nearest = parents.find(
    (parent) =>
      existsSync(join(parent, 'package.json')) || existsSync(join(parent, 'node_modules')),
  );
  return nearest !== undefined && leadsTo(nearest, root);
}

/** A folder and those around it, from the inside.
 *  @example '/a/b'  →  ['/a/b', '/a', '/'] */
function parentsOf(folder: string): string[] {
  const parents = [resolve(folder)];
  for (let next = dirname(parents[0]!); next !== parents.at(-1); next = dirname(next)) {
    parents.push(next);
  }
  return parents;
}

/** Whether a path exists and resolves to the other one. */
function leadsTo(path: string, target: string): boolean {
  return existsSync(path) && realpathSync(path) === target;
}

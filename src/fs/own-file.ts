import { readFileSync, realpathSync, statSync } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, relative, sep } from 'node:path';
import { ignoreMissing, statIfExists } from './read.ts';
import { expectRegular, readFlags, UnusableFileError } from './regular-file.ts';

/** Opens a file that this package wrote, such as a log of a run; undefined if there is none. Folders may
 *  come from others, so everything is rejected that is not such a file: a named pipe or a device, which
 *  could be read forever, and a link that leaves the file's folder, which could show any other file. */
export async function openOwnFile(path: string): Promise<FileHandle | undefined> {
  if (!(await expectOwnFile(path))) return undefined;
  return open(path, readFlags).catch(ignoreMissing);
}

/** The text of a file that this package wrote; undefined if there is none. */
export async function readOwnText(path: string): Promise<string | undefined> {
  const file = await openOwnFile(path);
  try {
    return await file?.readFile('utf8');
  } finally {
    await file?.close();
  }
}

/** The same synchronously. */
export function readOwnTextSync(path: string): string | undefined {
  try {
    const stats = statSync(path);
    expectRegular(path, { stats, action: 'read' });
    expectInside(path, { target: realpathSync(path), folder: realpathSync(dirname(path)) });
    return readFileSync(path, 'utf8');
  } catch (error) {
    return ignoreMissing(error as NodeJS.ErrnoException);
  }
}

/** Whether there is a file that this package wrote; throws if it is something else. */
export async function expectOwnFile(path: string): Promise<boolean> {
  const stats = await statIfExists(path);
  if (stats === undefined) return false;
  expectRegular(path, { stats, action: 'read' });
  const target = await realpath(path).catch(ignoreMissing);
  if (target === undefined) return false;
  expectInside(path, { target, folder: await realpath(dirname(path)) });
  return true;
}

function expectInside(
  path: string,
  { target, folder }: { readonly target: string; readonly folder: string },
): void {
  const inside = relative(folder, target);
  if (!isAbsolute(inside) && inside.split(sep)[0] !== '..') return;
  const problem =
    'it must be in its folder, got a link to a file elsewhere; replace the link with a copy of the file';
  throw new UnusableFileError(path, { action: 'read', problem });
}

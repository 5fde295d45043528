import { isAbsolute, relative } from 'node:path';

/** A path within this folder as it is from here; others and ids on the hub stay.
 *  @example '/home/me/runs/a' in /home/me  →  'runs/a' */
export function shorten(path: string): string {
  if (!isAbsolute(path)) return path;
  const short = relative(process.cwd(), path);
  return short === '' || short.startsWith('..') ? path : short;
}

/** For a shell, in quotes where it must be.
 *  @example "my run's"  →  "'my run'\\''s'" */
export function quote(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

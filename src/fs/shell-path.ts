import { isAbsolute, relative } from 'node:path';

/** A path relative to the current folder if it is inside it; other paths and hub ids are unchanged.
 *  @example '/home/me/runs/a' in /home/me  →  'runs/a' */
export function shortPath(path: string): string {
  if (!isAbsolute(path)) return path;
  const short = relative(process.cwd(), path);
  return short === '' || short.startsWith('..') ? path : short;
}

/** Quotes text for a shell if it needs it.
 *  @example "my run's"  →  "'my run'\\''s'" */
export function shellQuote(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

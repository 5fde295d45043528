/** A place in the page: what the part of its address behind # says. */
export type Route =
  | { readonly page: 'overview'; readonly run: string | undefined }
  | { readonly page: 'samples'; readonly run: string }
  | { readonly page: 'tokens'; readonly run: string; readonly index: number }
  | { readonly page: 'label' }
  | { readonly page: 'unknown' };

/** Reads the hash of an address.
 *  @example '#/runs/a/samples/7'  →  { page: 'tokens', run: 'a', index: 7 } */
export function parseRoute(hash: string): Route {
  const parts = hash.replace(/^#?\/?/, '').split('/');
  if (parts.length === 1 && parts[0] === '') return { page: 'overview', run: undefined };
  if (parts.length === 1 && parts[0] === 'label') return { page: 'label' };
  const run = decode(parts[1] ?? '');
  if (parts[0] !== 'runs' || run === '') return { page: 'unknown' };
  if (parts.length === 2) return { page: 'overview', run };
  if (parts[2] !== 'samples') return { page: 'unknown' };
  if (parts.length === 3) return { page: 'samples', run };
  if (parts.length > 4 || !/^\d{1,15}$/.test(parts[3]!)) return { page: 'unknown' };
  return { page: 'tokens', run, index: Number(parts[3]) };
}

/** The hash that leads to a place. */
export function formatRoute(route: Exclude<Route, { page: 'unknown' }>): string {
  if (route.page === 'label') return '#/label';
  if (route.run === undefined) return '#/';
  const base = `#/runs/${encodeURIComponent(route.run)}`;
  if (route.page === 'overview') return base;
  return route.page === 'samples' ? `${base}/samples` : `${base}/samples/${route.index}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

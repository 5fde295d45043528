import type { StepRange } from '../charts/chart-view.ts';

/** What of the charts an address keeps, so that a link shows the same thing. */
interface OverviewView {
  /** Runs that are drawn beside the chosen one. */
  readonly ticked: readonly string[];
  /** The steps that are zoomed to; all if not given. */
  readonly zoom?: StepRange | undefined;
}

/** A place in the page: what the part of its address behind # says. */
export type Route =
  | ({ readonly page: 'overview'; readonly run: string | undefined } & OverviewView)
  | { readonly page: 'samples'; readonly run: string }
  | { readonly page: 'tokens'; readonly run: string; readonly index: number }
  | { readonly page: 'label' }
  | { readonly page: 'unknown' };

/** Reads the hash of an address.
 *  @example '#/runs/a/samples/7'  →  { page: 'tokens', run: 'a', index: 7 }
 *  @example '#/runs/a?with=b,c&zoom=10,20'  →  a with b and c beside it, steps 10 to 20 */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const parts = path.split('/');
  if (parts.length === 1 && parts[0] === '') {
    return { page: 'overview', run: undefined, ...parseView(query) };
  }
  if (parts.length === 1 && parts[0] === 'label') return { page: 'label' };
  const run = decode(parts[1] ?? '');
  if (parts[0] !== 'runs' || run === '') return { page: 'unknown' };
  if (parts.length === 2) return { page: 'overview', run, ...parseView(query) };
  if (parts[2] !== 'samples') return { page: 'unknown' };
  if (parts.length === 3) return { page: 'samples', run };
  if (parts.length > 4 || !/^\d{1,15}$/.test(parts[3]!)) return { page: 'unknown' };
  return { page: 'tokens', run, index: Number(parts[3]) };
}

/** The hash that leads to a place. */
export function formatRoute(route: Exclude<Route, { page: 'unknown' }>): string {
  if (route.page === 'label') return '#/label';
  const base = route.run === undefined ? '#/' : `#/runs/${encodeURIComponent(route.run)}`;
  if (route.page === 'overview') return base + formatView(route);
  return route.page === 'samples' ? `${base}/samples` : `${base}/samples/${route.index}`;
}

/** What is not as it should be counts as not there. */
function parseView(query: string): OverviewView {
  const fields = new Map(query.split('&').map((field) => field.split('=', 2) as [string, string]));
  const ticked = (fields.get('with') ?? '').split(',').map(decode).filter(Boolean);
  const [min = Number.NaN, max = Number.NaN] = (fields.get('zoom') ?? '').split(',').map(Number);
  return { ticked, ...(max - min > 0 && { zoom: { min, max } }) };
}

function formatView({ ticked, zoom }: OverviewView): string {
  const fields = [
    ...(ticked.length > 0 ? [`with=${ticked.map(encodeURIComponent).join(',')}`] : []),
    ...(zoom === undefined ? [] : [`zoom=${shorten(zoom.min)},${shorten(zoom.max)}`]),
  ];
  return fields.length === 0 ? '' : `?${fields.join('&')}`;
}

/** As exact as a chart can show. */
function shorten(step: number): number {
  return Number(step.toPrecision(6));
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

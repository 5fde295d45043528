import type { StepRange } from '../charts/chart-view.ts';

/** The part of the chart settings that is in the URL, so that a link shows the same charts. */
interface OverviewView {
  /** Runs that are drawn with the selected one. */
  readonly ticked: readonly string[];
  /** The zoomed steps; all if missing. */
  readonly zoom?: StepRange | undefined;
}

/** A page of the dashboard, from the part of the URL after #. */
export type Route =
  | ({ readonly page: 'overview'; readonly run: string | undefined } & OverviewView)
  | { readonly page: 'runs' }
  | { readonly page: 'samples'; readonly run: string }
  | { readonly page: 'tokens'; readonly run: string; readonly index: number }
  | { readonly page: 'label' }
  | { readonly page: 'unknown' };

/** Parses the hash of a URL.
 *  @example '#/runs/a/samples/7'  →  { page: 'tokens', run: 'a', index: 7 }
 *  @example '#/runs/a?with=b,c&zoom=10,20'  →  a drawn with b and c, steps 10 to 20 */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const parts = path.split('/');
  if (parts.length === 1 && parts[0] === '') {
    return { page: 'overview', run: undefined, ...parseView(query) };
  }
  if (parts.length === 1 && parts[0] === 'label') return { page: 'label' };
  if (parts.length === 1 && parts[0] === 'runs') return { page: 'runs' };
  const run = decode(parts[1] ?? '');
  if (parts[0] !== 'runs' || run === '') return { page: 'unknown' };
  if (parts.length === 2) return { page: 'overview', run, ...parseView(query) };
  if (parts[2] !== 'samples') return { page: 'unknown' };
  if (parts.length === 3) return { page: 'samples', run };
  if (parts.length > 4 || !/^\d{1,15}$/.test(parts[3]!)) return { page: 'unknown' };
  return { page: 'tokens', run, index: Number(parts[3]) };
}

/** The URL hash of a page. */
export function formatRoute(route: Exclude<Route, { page: 'unknown' }>): string {
  if (route.page === 'label' || route.page === 'runs') return `#/${route.page}`;
  const base = route.run === undefined ? '#/' : `#/runs/${encodeURIComponent(route.run)}`;
  if (route.page === 'overview') return base + formatView(route);
  return route.page === 'samples' ? `${base}/samples` : `${base}/samples/${route.index}`;
}

/** Malformed fields are ignored. */
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

/** Rounds to the precision that a chart can show. */
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

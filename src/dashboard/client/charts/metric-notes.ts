/** The entry of a metric in docs/metrics.md. */
export interface MetricNote {
  readonly formula: string;
  readonly unit: string;
  readonly reading: string;
}

/** Notes by metric name; a part such as `{source}` in a name matches anything. */
export type MetricNotes = Readonly<Record<string, MetricNote>>;

const columns = ['metric', 'formula', 'unit', 'how to read it'];

/** Reads the tables of docs/metrics.md: rows of metric, formula, unit, and how to read it.
 *  @example a row '| `lr` | the rate | — | Falls. |'  →  { lr: { formula: 'the rate', unit: '—', reading: 'Falls.' } } */
export function parseMetricNotes(markdown: string): MetricNotes {
  const notes: Record<string, MetricNote> = {};
  let inTable = false;
  for (const line of markdown.split('\n')) {
    const cells = splitRow(line);
    if (cells === undefined) inTable = false;
    else if (cells.join() === columns.join()) inTable = true;
    else if (inTable && cells.length === columns.length && !/^-+$/.test(cells[0]!)) {
      const [metric, formula, unit, reading] = cells as [string, string, string, string];
      notes[metric.replaceAll('`', '')] = { formula, unit, reading };
    }
  }
  return notes;
}

/** The note of a metric, or of the pattern that matches its name.
 *  @example 'rewards/length/mean' matches 'rewards/{source}/mean' */
export function findNote(notes: MetricNotes, name: string): MetricNote | undefined {
  if (Object.hasOwn(notes, name)) return notes[name];
  const pattern = Object.keys(notes).find((key) => key.includes('{') && matches(name, key));
  return pattern === undefined ? undefined : notes[pattern];
}

/** The unit of a chart's metrics; empty if they have none or different ones.
 *  @example 'objective/kl'  →  'nats per response' */
export function commonUnit(notes: MetricNotes, metrics: readonly string[]): string {
  const units = new Set(metrics.map((metric) => findNote(notes, metric)?.unit ?? '—'));
  const [unit = '—'] = units;
  return units.size > 1 || unit === '—' ? '' : unit;
}

function matches(name: string, pattern: string): boolean {
  const [start, end] = pattern.split(/\{.*\}/, 2) as [string, string];
  return name.length > start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

/** The cells of a table row; undefined if the line is not one. */
function splitRow(line: string): string[] | undefined {
  const row = /^\|(.*)\|\s*$/.exec(line)?.[1];
  return row?.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

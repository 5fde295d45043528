interface ChartLine {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface ChartOptions {
  readonly title: string;
  readonly lines: readonly ChartLine[];
}

const WIDTH = 360;
const HEIGHT = 200;
const MARGIN = { left: 46, right: 12, top: 28, bottom: 24 };
const colors = ['#2563eb', '#d97706', '#059669'];

/** Curves over steps as an SVG image with labelled ends of both axes. */
export function lineChart({ title, lines }: ChartOptions): string {
  const points = lines.flatMap((line) => line.points);
  const [x, y] = [rangeOf(points.map(([at]) => at)), rangeOf(points.map(([, value]) => value))];
  const placeX = (at: number) => MARGIN.left + part(at, x) * (WIDTH - MARGIN.left - MARGIN.right);
  const placeY = (value: number) =>
    HEIGHT - MARGIN.bottom - part(value, y) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const curves = lines.map((line, i) => {
    const path = line.points.map(([at, value]) => `${round(placeX(at))},${round(placeY(value))}`);
    return `<polyline fill="none" stroke="${colors[i % colors.length]}" stroke-width="2" points="${path.join(' ')}"><title>${escapeHtml(line.name)}</title></polyline>`;
  });
  const text = (at: { x: number; y: number; anchor: string }, label: string) =>
    `<text x="${at.x}" y="${at.y}" text-anchor="${at.anchor}">${escapeHtml(label)}</text>`;
  const bottom = HEIGHT - MARGIN.bottom;
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}" font-family="system-ui" font-size="11" fill="currentColor">`,
    `<text x="${MARGIN.left}" y="16" font-weight="600">${escapeHtml(title)}</text>`,
    `<path d="M${MARGIN.left} ${MARGIN.top}V${bottom}H${WIDTH - MARGIN.right}" fill="none" stroke="currentColor" opacity="0.3"/>`,
    text({ x: MARGIN.left - 6, y: MARGIN.top + 4, anchor: 'end' }, show(y.high)),
    text({ x: MARGIN.left - 6, y: bottom, anchor: 'end' }, show(y.low)),
    text({ x: MARGIN.left, y: HEIGHT - 8, anchor: 'start' }, `step ${x.low}`),
    text({ x: WIDTH - MARGIN.right, y: HEIGHT - 8, anchor: 'end' }, `${x.high}`),
    ...curves,
    '</svg>',
  ].join('');
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

interface Range {
  readonly low: number;
  readonly high: number;
}

function rangeOf(values: readonly number[]): Range {
  return { low: Math.min(...values), high: Math.max(...values) };
}

function part(value: number, { low, high }: Range): number {
  return high === low ? 0.5 : (value - low) / (high - low);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function show(value: number): string {
  return String(Number(value.toFixed(Math.abs(value) < 100 ? 2 : 0)));
}

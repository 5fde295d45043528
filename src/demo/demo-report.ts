import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../fs/index.ts';
import type { DemoResult } from './demo-run.ts';
import type { GoldSample } from './gold-evaluation.ts';

/** The charts of the report: metric and title. */
const charts = [
  ['objective/scores', 'Reward-model score of the samples'],
  ['objective/kl', 'KL from the reference, nats per response'],
  ['policy/entropy_avg', 'Entropy, nats per token'],
  ['completions/mean_length', 'Length in tokens'],
] as const;

/** Writes a self-contained HTML page: numbers, charts, and texts side by side. Returns its path. */
export async function writeDemoReport(result: DemoResult): Promise<string> {
  const metrics = readMetrics(join(result.folder, 'ppo', 'metrics.jsonl'));
  const figures = charts.map(([name, title]) => {
    const points = metrics.flatMap(({ step, ...values }) => {
      const value = (values as Record<string, number | null>)[name];
      return typeof value === 'number' ? [[step, value] as const] : [];
    });
    return `<figure>${lineChart({ title, lines: [{ name, points }] })}</figure>`;
  });
  const samples = result.samples.map(
    ({ before, after }) =>
      `<section><pre>${escapeHtml(before.post)}</pre><div class="pair">${describe('before PPO', before)}${describe('after PPO', after)}</div></section>`,
  );
  const path = join(result.folder, 'report.html');
  await writeAtomically(
    path,
    page([table(result), `<div class="charts">${figures.join('')}</div>`, ...samples]),
  );
  return path;
}

/** Reads the metrics of every step from a run's log. */
export function readMetrics(file: string): ({ step: number } & Record<string, number | null>)[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function table({ gold, reward, first, last }: DemoResult): string {
  const show = (value: number) => value.toFixed(3);
  const rows = [
    ['Gold score of held-out posts', show(gold.before), show(gold.after)],
    ['Reward-model score', show(first.reward), show(last.reward)],
    ['Length in tokens', first.length.toFixed(1), last.length.toFixed(1)],
    ['KL from the reference', show(first.kl), show(last.kl)],
  ];
  const body = rows
    .map(
      ([name, ...cells]) =>
        `<tr><th>${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
    )
    .join('');
  return `<table><tr><td></td><th>before</th><th>after</th></tr>${body}</table>
<p>The difference in gold score is ${show(gold.low)} to ${show(gold.high)} with 95 % confidence; after PPO ${Math.round(100 * gold.winRate)} % of the summaries score higher (${Math.round(100 * gold.winLow)} to ${Math.round(100 * gold.winHigh)} %). The reward model predicts ${Math.round(100 * reward.accuracy)} % of ${reward.heldOut} held-out pairs correctly; guessing by length predicts ${Math.round(100 * reward.lengthAccuracy)} %.</p>`;
}

function describe(label: string, { summary, score }: GoldSample): string {
  return `<div><h3>${label} <small>gold ${score.toFixed(2)}</small></h3><p>${escapeHtml(summary)}</p></div>`;
}

function page(parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Proximal demo</title>
<style>
body { font: 16px/1.5 system-ui; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1f2937; background: #fff }
table { border-collapse: collapse } th, td { padding: .25rem 1rem .25rem 0; text-align: left } td { font-variant-numeric: tabular-nums }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem } figure { margin: 0 }
section { border-top: 1px solid #d1d5db; padding: 1rem 0 } pre { white-space: pre-wrap; font: inherit; color: #6b7280 }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 2rem } h3 { margin: 0; font-size: 1rem } small { font-weight: 400; color: #6b7280 }
@media (prefers-color-scheme: dark) { body { color: #e5e7eb; background: #111827 } }
</style>
<h1>A language model learns to summarise posts</h1>
${parts.join('\n')}
</html>
`;
}

interface ChartLine {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface ChartOptions {
  readonly title: string;
  readonly lines: readonly ChartLine[];
}

const WIDTH = 360;
const HEIGHT = 200;
const MARGIN = { left: 46, right: 12, top: 28, bottom: 24 };
const colors = ['#2563eb', '#d97706', '#059669'];

/** Draws curves over steps as an SVG image. Both axes are labelled at their ends. */
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

function escapeHtml(text: string): string {
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

import type { Line } from './chart-layout.ts';
import { dashes, plotFont } from './chart-view.ts';
import type { PlotStyle } from './plot-options.ts';
import { alignSeries, type Points } from './series.ts';

interface ChartPicture {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly style: PlotStyle;
}

const margin = 14;
const titleHeight = 26;
const rowHeight = 18;

/** A chart as a PNG, with its title above and its legend below, on the page's background. */
export async function exportPng(chart: HTMLCanvasElement, picture: ChartPicture): Promise<Blob> {
  const scale = devicePixelRatio;
  const canvas = document.createElement('canvas');
  const rows = picture.lines.length;
  canvas.width = chart.width + 2 * margin * scale;
  canvas.height = chart.height + (2 * margin + titleHeight + rows * rowHeight) * scale;
  const context = canvas.getContext('2d')!;
  context.scale(scale, scale);
  context.fillStyle = picture.style.surface;
  context.fillRect(0, 0, canvas.width / scale, canvas.height / scale);
  context.textBaseline = 'middle';
  context.fillStyle = picture.style.text;
  context.font = `600 14px ${plotFont}`;
  context.fillText(picture.title, margin, margin + 8);
  const size = [chart.width / scale, chart.height / scale] as const;
  context.drawImage(chart, margin, margin + titleHeight, ...size);
  drawLegend(context, { ...picture, top: margin + titleHeight + size[1] + rowHeight / 2 });
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
  if (blob === null) throw new Error('Cannot save the chart: the browser returned no image');
  return blob;
}

function drawLegend(
  context: CanvasRenderingContext2D,
  { lines, style, top }: ChartPicture & { readonly top: number },
): void {
  context.font = `12px ${plotFont}`;
  context.lineWidth = 2;
  lines.forEach(({ label, colour, dash }, row) => {
    const y = top + row * rowHeight;
    context.strokeStyle = style.series[colour % style.series.length]!;
    context.setLineDash([...dashes[dash % dashes.length]!]);
    context.beginPath();
    context.moveTo(margin, y);
    context.lineTo(margin + 22, y);
    context.stroke();
    context.fillStyle = style.text;
    context.fillText(label, margin + 30, y);
  });
}

export interface NamedPoints extends Points {
  readonly name: string;
}

/** Series as CSV (RFC 4180): a line per step, an empty cell for a missing number.
 *  @example kl [0.5] at step 1  →  'step,kl\r\n1,0.5\r\n' */
export function formatCsv(series: readonly NamedPoints[]): string {
  const { steps, columns } = alignSeries(series);
  const head = ['step', ...series.map(({ name }) => formatCell(name))];
  const lines = steps.map((step, row) => [step, ...columns.map((column) => column[row] ?? '')]);
  return [head, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

/** Text as a cell that spreadsheets do not treat as a formula. */
function formatCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A file name that is valid on every system.
 *  @example ['My run', 'KL to the reference'], 'csv'  →  'my-run-kl-to-the-reference.csv' */
export function fileName(parts: readonly string[], extension: string): string {
  const words =
    parts
      .join(' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}_.]+/gu) ?? [];
  const name = words
    .join('-')
    .replace(/^[.-]+/, '')
    .slice(0, 100);
  return `${name === '' ? 'chart' : name}.${extension}`;
}

/** Downloads a file. */
export function download(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

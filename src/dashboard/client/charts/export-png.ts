import type { Line } from './chart-lines.ts';
import { dashes, type PlotStyle, plotFont } from './plot-style.ts';

interface Picture {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly style: PlotStyle;
}

const margin = 14;
const titleHeight = 26;
const rowHeight = 18;

/** A chart as a PNG, with its title above and its legend below, on the page's own ground. */
export async function exportPng(chart: HTMLCanvasElement, picture: Picture): Promise<Blob> {
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
  const blob = await new Promise<Blob | null>((take) => canvas.toBlob(take, 'image/png'));
  if (blob === null) throw new Error('Cannot save the chart: the browser made no picture of it');
  return blob;
}

function drawLegend(
  context: CanvasRenderingContext2D,
  { lines, style, top }: Picture & { readonly top: number },
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

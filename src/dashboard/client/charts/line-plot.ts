import { effect } from '@preact/signals';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChartView, StepRange } from './chart-view.ts';
import { hasPoints, type PlotShape, plotOptions, yScale } from './plot-options.ts';
import { alignSeries, smooth, stackColumns } from './series.ts';

export interface PlotContent extends PlotShape {
  readonly smoothing: number;
  /** The steps of all charts on the page. */
  readonly domain: StepRange;
}

const height = 186;

/** A shorter drag, in pixels, is a click. */
const MIN_DRAG = 5;

/** A line plot on a canvas. It shares the cursor and the zoom with the other plots of its view. */
export class LinePlot {
  private readonly host: HTMLElement;
  private readonly view: ChartView;
  private readonly cleanups: (() => void)[];
  private plot: uPlot | undefined;
  private content: PlotContent | undefined;
  /** Drawn once the plot comes into view. */
  private pending: PlotContent | undefined;
  private isInView = true;
  private isHovered = false;

  constructor(host: HTMLElement, view: ChartView) {
    this.host = host;
    this.view = view;
    const observer = new ResizeObserver(() => this.fit());
    observer.observe(host);
    const inView = new IntersectionObserver(
      (entries) => this.setInView(entries.at(-1)!.isIntersecting),
      {
        rootMargin: '200px',
      },
    );
    inView.observe(host);
    const drawPending = () => this.drawPending();
    addEventListener('beforeprint', drawPending);
    host.addEventListener('mouseenter', () => {
      this.isHovered = true;
    });
    host.addEventListener('mouseleave', () => {
      this.isHovered = false;
      view.cursor.value = undefined;
    });
    this.cleanups = [
      () => observer.disconnect(),
      () => inView.disconnect(),
      () => removeEventListener('beforeprint', drawPending),
      effect(() => this.followCursor(view.cursor.value)),
      effect(() => this.followRange(view.range.value)),
    ];
  }

  get canvas(): HTMLCanvasElement | undefined {
    return this.plot?.ctx.canvas;
  }

  /** The visible steps. */
  get range(): StepRange {
    return this.view.range.peek() ?? this.content?.domain ?? { min: 0, max: 1 };
  }

  /** Draws new content. A plot that is out of view is redrawn only when it comes into view, since
   *  drawing is the most expensive thing that the page does. */
  draw(content: PlotContent): void {
    this.pending = content;
    if (this.isInView || this.plot === undefined) this.drawPending();
  }

  private drawPending(): void {
    const [before, content] = [this.content, this.pending];
    if (content === undefined) return;
    this.pending = undefined;
    this.content = content;
    if (this.plot === undefined || before === undefined || needsRebuild(before, content)) {
      this.rebuild(content);
    } else this.plot.setData(toColumns(content));
    this.followCursor(this.view.cursor.peek());
  }

  destroy(): void {
    for (const cleanUp of this.cleanups) cleanUp();
    this.plot?.destroy();
  }

  private setInView(isInView: boolean): void {
    this.isInView = isInView;
    if (isInView) this.drawPending();
  }

  private rebuild(content: PlotContent): void {
    this.plot?.destroy();
    const options = plotOptions(content, {
      size: { width: this.host.clientWidth || 300, height },
      range: () => [this.range.min, this.range.max],
      onCursor: (plot) => this.publishCursor(plot),
      onSelect: (plot) => this.publishRange(plot),
      onReset: () => {
        this.view.range.value = undefined;
      },
    });
    this.plot = new uPlot(options, toColumns(content), this.host);
  }

  private fit(): void {
    const width = this.host.clientWidth;
    if (width > 0 && width !== this.plot?.width) this.plot?.setSize({ width, height });
  }

  private publishCursor(plot: uPlot): void {
    // Redrawing sets the cursor too; only the mouse may move the others.
    if (!this.isHovered || plot !== this.plot) return;
    const { left, idx } = plot.cursor;
    const isInside = left !== undefined && left >= 0 && idx != null;
    this.view.cursor.value = isInside ? plot.data[0][idx] : undefined;
  }

  private publishRange(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width >= MIN_DRAG) {
      const [min, max] = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')];
      if (max - min > 0) this.view.range.value = { min, max };
    }
    if (width > 0) plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  private followCursor(step: number | undefined): void {
    if (this.plot === undefined) return;
    const left = step === undefined ? -10 : this.plot.valToPos(step, 'x');
    if (left === this.plot.cursor.left) return;
    this.plot.setCursor({ left, top: step === undefined ? -10 : 0 }, false);
  }

  private followRange(range: StepRange | undefined): void {
    const shown = range ?? this.content?.domain;
    if (this.plot === undefined || shown === undefined) return;
    this.plot.setScale('x', { min: shown.min, max: shown.max });
    this.followCursor(this.view.cursor.peek());
  }
}

/** Whether new content needs a new plot rather than just new numbers. */
function needsRebuild(a: PlotContent, b: PlotContent): boolean {
  const looks = ({ lines, ...content }: PlotContent) =>
    JSON.stringify([
      content.isStacked,
      content.unit,
      yScale({ lines, ...content }),
      lines.map(({ label, colour, dash, steps }) => [label, colour, dash, hasPoints(steps)]),
    ]);
  return a.isSmoothed !== b.isSmoothed || a.style !== b.style || looks(a) !== looks(b);
}

function toColumns({ lines, isSmoothed, smoothing, isStacked }: PlotContent): uPlot.AlignedData {
  const smoothed = isSmoothed
    ? lines.map(({ steps, values, isNoisy }) => ({
        steps,
        values: isNoisy ? smooth(values, smoothing) : values,
      }))
    : [];
  if (isStacked) {
    const { steps, columns } = alignSeries(isSmoothed ? smoothed : lines);
    return [steps, ...stackColumns(columns)];
  }
  const { steps, columns } = alignSeries([...lines, ...smoothed]);
  return [steps, ...columns];
}

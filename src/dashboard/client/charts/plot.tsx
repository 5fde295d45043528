import { useLayoutEffect, useRef } from 'preact/hooks';
import { describeCursor } from './chart-legend.tsx';
import { type ChartView, zoomRange } from './chart-view.ts';
import { LinePlot, type PlotContent } from './line-plot.ts';
import { nearestIndex } from './series.ts';

interface PlotProps {
  readonly title: string;
  readonly view: ChartView;
  readonly content: PlotContent;
  /** Returns the canvas, for the export. */
  readonly canvasRef: { current: (() => HTMLCanvasElement | undefined) | null };
}

/** The lines of a chart. For the keyboard it is a slider: arrow keys move the cursor. */
export function Plot({ title, view, content, canvasRef }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<LinePlot | undefined>(undefined);
  useLayoutEffect(() => {
    const created = new LinePlot(host.current!, view);
    plot.current = created;
    canvasRef.current = () => created.canvas;
    return () => created.destroy();
  }, [view, canvasRef]);
  // In the same frame as the text around it.
  useLayoutEffect(() => plot.current?.draw(content), [view, content]);
  const step = view.cursor.value ?? content.domain.max;
  return (
    <div
      ref={host}
      class="plot"
      role="slider"
      tabIndex={0}
      aria-label={`${title}: step`}
      aria-valuemin={content.domain.min}
      aria-valuemax={content.domain.max}
      aria-valuenow={step}
      aria-valuetext={describeCursor(content.lines, view.cursor.value)}
      onKeyDown={(event) => handleKey(event, { view, content })}
      onBlur={() => {
        view.cursor.value = undefined;
      }}
    />
  );
}

/** Arrow keys move the cursor by one step or, with Shift, by a tenth; + and − zoom, Escape resets. */
function handleKey(
  event: KeyboardEvent,
  { view, content }: { view: ChartView; content: PlotContent },
): void {
  const whole = content.domain;
  const visible = view.range.value ?? whole;
  const at = view.cursor.value ?? visible.max;
  const move = (direction: number) => {
    const jump = event.shiftKey ? Math.max(1, Math.round((visible.max - visible.min) / 10)) : 0;
    view.cursor.value = neighbour(content, { at, direction, jump });
  };
  const zoom = (factor: number) => {
    view.range.value = zoomRange(visible, { whole, at, factor });
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    Home: () => {
      view.cursor.value = visible.min;
    },
    End: () => {
      view.cursor.value = visible.max;
    },
    '+': () => zoom(0.5),
    '-': () => zoom(2),
    Escape: () => {
      view.range.value = undefined;
    },
  };
  const action = actions[event.key];
  if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}

/** The next step of the chart's first line, or the one nearest to `jump` steps away. */
function neighbour(
  { lines, domain }: PlotContent,
  { at, direction, jump }: { at: number; direction: number; jump: number },
): number {
  const line = lines[0];
  if (line === undefined || line.steps.length === 0) return at;
  const nearest = nearestIndex(line, at + direction * jump);
  const next = jump > 0 ? nearest : nearest + direction;
  const step = line.steps[Math.min(Math.max(next, 0), line.steps.length - 1)]!;
  return Math.min(Math.max(step, domain.min), domain.max);
}

import { useLayoutEffect, useRef } from 'preact/hooks';
import { describeCursor } from './chart-legend.tsx';
import { type ChartView, zoomRange } from './chart-view.ts';
import { LinePlot, type PlotContent } from './line-plot.ts';
import { nearestPlace } from './series.ts';

interface PlotProps {
  readonly title: string;
  readonly view: ChartView;
  readonly content: PlotContent;
  /** Hands out the canvas to make a picture of. */
  readonly canvasRef: { current: (() => HTMLCanvasElement | undefined) | null };
}

/** A chart's lines. With the keyboard it is a slider: arrows move the cursor through the steps. */
export function Plot({ title, view, content, canvasRef }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<LinePlot | undefined>(undefined);
  useLayoutEffect(() => {
    const made = new LinePlot(host.current!, view);
    plot.current = made;
    canvasRef.current = () => made.canvas;
    return () => made.destroy();
  }, [view, canvasRef]);
  // In the frame of the numbers around it, so that there is one frame for both.
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

/** Arrows move the cursor by one step or, with Shift, by a tenth; + and − zoom, Escape shows all. */
function handleKey(
  event: KeyboardEvent,
  { view, content }: { view: ChartView; content: PlotContent },
): void {
  const whole = content.domain;
  const now = view.range.value ?? whole;
  const at = view.cursor.value ?? now.max;
  const move = (way: number) => {
    const far = event.shiftKey ? Math.max(1, Math.round((now.max - now.min) / 10)) : 0;
    view.cursor.value = neighbour(content, { at, way, far });
  };
  const zoom = (factor: number) => {
    view.range.value = zoomRange(now, { whole, at, factor });
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    Home: () => {
      view.cursor.value = now.min;
    },
    End: () => {
      view.cursor.value = now.max;
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

/** The next step of the chart's first line, or the one that is nearest to `far` steps away. */
function neighbour(
  { lines, domain }: PlotContent,
  { at, way, far }: { at: number; way: number; far: number },
): number {
  const line = lines[0];
  if (line === undefined || line.steps.length === 0) return at;
  const place = nearestPlace(line, at + way * far);
  const next = far > 0 ? place : place + way;
  const step = line.steps[Math.min(Math.max(next, 0), line.steps.length - 1)]!;
  return Math.min(Math.max(step, domain.min), domain.max);
}

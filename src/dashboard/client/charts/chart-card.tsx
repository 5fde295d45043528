import './chart-card.css';
import { metricNotes } from 'virtual:metric-notes';
import type { RefObject } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { download, exportPng, fileName, formatCsv } from './chart-export.ts';
import { type ChartSpec, chartLines, type DrawnRun } from './chart-layout.ts';
import { ChartLegend } from './chart-legend.tsx';
import type { ChartView, StepRange } from './chart-view.ts';
import { commonUnit, findNote, type MetricNote } from './metric-notes.ts';
import { Plot } from './plot.tsx';
import type { PlotStyle } from './plot-options.ts';

interface ChartCardProps {
  readonly spec: ChartSpec;
  readonly runs: readonly DrawnRun[];
  readonly domain: StepRange;
  readonly view: ChartView;
  readonly style: PlotStyle;
}

/** One chart: title, formula, menu, lines and legend. */
export function ChartCard({ spec, runs, domain, view, style }: ChartCardProps) {
  const lines = useMemo(() => chartLines(spec, runs), [spec, runs]);
  const [ownLog, setOwnLog] = useState<boolean | undefined>(undefined);
  const canvas = useRef<(() => HTMLCanvasElement | undefined) | null>(null);
  const isLog = ownLog ?? view.isLog.value;
  const smoothing = view.smoothing.value;
  const unit = commonUnit(metricNotes, spec.metrics);
  // Stacks of several runs would overlap, and on a log scale heights cannot be added.
  const isStacked = spec.isStacked === true && runs.length === 1 && !isLog;
  const content = useMemo(
    () => ({ lines, domain, isLog, isStacked, unit, smoothing, isSmoothed: smoothing > 0, style }),
    [lines, domain, isLog, isStacked, unit, smoothing, style],
  );
  const names = [...runs.map(({ name }) => name), spec.title];
  const savePng = async () => {
    const chart = canvas.current?.();
    if (chart === undefined) return;
    const title = `${spec.title} – ${runs.map(({ name }) => name).join(', ')}`;
    download(await exportPng(chart, { title, lines, style }), fileName(names, 'png'));
  };
  const saveCsv = () =>
    download(new Blob([formatCsv(lines)], { type: 'text/csv' }), fileName(names, 'csv'));
  return (
    <figure class="chart-card" aria-label={spec.title}>
      <figcaption>
        <h3>{spec.title}</h3>
        <FormulaTip title={spec.title} metrics={spec.metrics} />
        <ChartMenu
          title={spec.title}
          isLog={isLog}
          onLog={setOwnLog}
          onPng={() => void savePng()}
          onCsv={saveCsv}
        />
      </figcaption>
      <Plot title={spec.title} view={view} content={content} canvasRef={canvas} />
      <ChartLegend lines={lines} view={view} />
    </figure>
  );
}

interface ChartMenuProps {
  readonly title: string;
  readonly isLog: boolean;
  readonly onLog: (isLog: boolean) => void;
  readonly onPng: () => void;
  readonly onCsv: () => void;
}

/** The menu of one chart. */
function ChartMenu({ title, ...items }: ChartMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current!.focus();
  };
  useDismiss(root, { isOpen, onLeave: () => setOpen(false), onEscape: close });
  return (
    <div ref={root} class="chart-menu">
      <button
        ref={button}
        type="button"
        class="quiet"
        aria-label={`Options for ${title}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">⋯</span>
      </button>
      {isOpen && <MenuItems {...items} onDone={close} />}
    </div>
  );
}

type MenuItemsProps = Omit<ChartMenuProps, 'title'> & { readonly onDone: () => void };

function MenuItems({ isLog, onLog, onPng, onCsv, onDone }: MenuItemsProps) {
  const runAndClose = (action: () => void) => () => {
    action();
    onDone();
  };
  return (
    <div class="chart-menu-items">
      <label>
        <input
          type="checkbox"
          checked={isLog}
          onChange={(event) => onLog(event.currentTarget.checked)}
        />
        Log scale
      </label>
      <button type="button" onClick={runAndClose(onPng)}>
        Save as PNG
      </button>
      <button type="button" onClick={runAndClose(onCsv)}>
        Save as CSV
      </button>
    </div>
  );
}

interface DismissOptions {
  readonly isOpen: boolean;
  readonly onLeave: () => void;
  readonly onEscape: () => void;
}

/** Calls back when the pointer or focus leaves an open menu, or Escape is pressed. */
function useDismiss(
  root: RefObject<HTMLElement | null>,
  { isOpen, onLeave, onEscape }: DismissOptions,
): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const end = new AbortController();
    const leave = ({ target }: Event) => {
      if (!root.current!.contains(target as Node)) onLeave();
    };
    document.addEventListener('pointerdown', leave, { signal: end.signal });
    document.addEventListener('focusin', leave, { signal: end.signal });
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && onEscape(), {
      signal: end.signal,
    });
    return () => end.abort();
  }, [isOpen]);
}

/** A button that explains a chart's metrics on hover and on focus. */
function FormulaTip({ title, metrics }: { title: string; metrics: readonly string[] }) {
  const [isDismissed, setDismissed] = useState(false);
  const id = useId();
  const known = metrics.flatMap((metric) => {
    const note = findNote(metricNotes, metric);
    return note === undefined ? [] : [{ metric, note }];
  });
  if (known.length === 0) return null;
  return (
    <span class={isDismissed ? 'formula-tip dismissed' : 'formula-tip'}>
      <button
        type="button"
        class="quiet"
        aria-label={`Formula for ${title}`}
        aria-describedby={id}
        onKeyDown={({ key }) => setDismissed(key === 'Escape')}
        onMouseEnter={() => setDismissed(false)}
        onBlur={() => setDismissed(false)}
      >
        <i aria-hidden="true">ƒ</i>
      </button>
      <span id={id} class="formula-tip-text" role="tooltip">
        {known.map(({ metric, note }) => (
          <Note key={metric} metric={metric} note={note} />
        ))}
      </span>
    </span>
  );
}

function Note({ metric, note }: { metric: string; note: MetricNote }) {
  return (
    <span class="formula-note">
      <code>{metric}</code>
      <span class="formula">
        <WithCode text={note.formula} />
        {note.unit !== '—' && <span class="unit"> [{note.unit}]</span>}
      </span>
      {note.reading !== '' && (
        <span class="reading">
          <WithCode text={note.reading} />
        </span>
      )}
    </span>
  );
}

/** Text with Markdown's `code`. */
function WithCode({ text }: { text: string }) {
  return (
    <>{text.split('`').map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part))}</>
  );
}

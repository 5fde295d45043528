import { useMemo, useRef, useState } from 'preact/hooks';
import type { ChartSpec } from './chart-layout.ts';
import { ChartLegend } from './chart-legend.tsx';
import { chartLines, type DrawnRun } from './chart-lines.ts';
import { ChartMenu } from './chart-menu.tsx';
import type { ChartView, StepRange } from './chart-view.ts';
import { download } from './download.ts';
import { exportPng } from './export-png.ts';
import { fileName } from './file-name.ts';
import { formatCsv } from './format-csv.ts';
import { FormulaTip } from './formula-tip.tsx';
import { Plot } from './plot.tsx';
import type { PlotStyle } from './plot-style.ts';
import './chart-card.css';

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
  // Parts of several wholes cannot lie on each other, and on a log scale their heights say nothing.
  const isStacked = spec.isStacked === true && runs.length === 1 && !isLog;
  const content = useMemo(
    () => ({ lines, domain, isLog, isStacked, smoothing, isSmoothed: smoothing > 0, style }),
    [lines, domain, isLog, isStacked, smoothing, style],
  );
  const names = [...runs.map(({ name }) => name), spec.title];
  const savePng = async () => {
    const drawn = canvas.current?.();
    if (drawn === undefined) return;
    const title = `${spec.title} – ${runs.map(({ name }) => name).join(', ')}`;
    download(await exportPng(drawn, { title, lines, style }), fileName(names, 'png'));
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

import { useId } from 'preact/hooks';
import type { ChartView } from './chart-view.ts';

/** What holds for all charts: smoothing, scale, zoom, and the step under the cursor. */
export function ChartToolbar({ view }: { view: ChartView }) {
  const { isLog, range, cursor } = view;
  return (
    <fieldset class="chart-toolbar" aria-label="All charts">
      <Smoothing smoothing={view.smoothing} />
      <label>
        <input
          type="checkbox"
          checked={isLog.value}
          onChange={(event) => {
            isLog.value = event.currentTarget.checked;
          }}
        />
        Log scale
      </label>
      {range.value !== undefined && (
        <button
          type="button"
          onClick={() => {
            range.value = undefined;
          }}
        >
          Reset zoom
        </button>
      )}
      <span class="cursor-step">
        {cursor.value === undefined ? (
          <span class="hint">drag to zoom, double-click to reset</span>
        ) : (
          `step ${cursor.value}`
        )}
      </span>
    </fieldset>
  );
}

function Smoothing({ smoothing }: Pick<ChartView, 'smoothing'>) {
  const id = useId();
  return (
    <span class="smoothing">
      <label for={id}>Smoothing</label>
      <input
        id={id}
        type="range"
        min="0"
        max="0.99"
        step="0.01"
        value={smoothing.value}
        onInput={(event) => {
          smoothing.value = Number(event.currentTarget.value);
        }}
      />
      <output for={id}>{smoothing.value.toFixed(2)}</output>
    </span>
  );
}

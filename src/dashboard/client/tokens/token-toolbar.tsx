import type { TokenColumns } from '../../api.ts';
import { CopyJson } from './copy-json.tsx';
import type { Neighbours } from './neighbours.ts';
import { saPairOf } from './sa-pair-of.ts';
import { type TokenMetricName, tokenMetrics } from './token-metrics.ts';

/** What tokens are coloured by, and what can be taken away. */
export function TokenToolbar({
  metric,
  onMetric,
  columns,
  shown,
}: {
  readonly metric: TokenMetricName;
  readonly onMetric: (metric: TokenMetricName) => void;
  readonly columns: TokenColumns;
  readonly shown: number;
}) {
  return (
    <div class="tokens-toolbar">
      <label>
        Colour by{' '}
        <select
          value={metric}
          onChange={(event) => onMetric(event.currentTarget.value as TokenMetricName)}
        >
          {Object.entries(tokenMetrics).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <CopyJson
        key={`token ${shown}`}
        label="Copy token as JSON"
        make={() => saPairOf(columns, shown)}
      />
      <CopyJson key={columns.step} label="Copy all as JSON" make={() => columns} />
    </div>
  );
}

/** Ways to the samples beside this one. */
export function SampleSteps({
  previous,
  next,
  onOpen,
}: Pick<Neighbours, 'previous' | 'next'> & {
  readonly onOpen: (index: number) => void;
}) {
  return (
    <div class="tokens-steps">
      <Step label="← Previous sample" shortcut="p" index={previous} onOpen={onOpen} />
      <Step label="Next sample →" shortcut="n" index={next} onOpen={onOpen} />
    </div>
  );
}

function Step({
  label,
  shortcut,
  index,
  onOpen,
}: {
  readonly label: string;
  readonly shortcut: string;
  readonly index: number | undefined;
  readonly onOpen: (index: number) => void;
}) {
  return (
    <button
      type="button"
      aria-keyshortcuts={shortcut}
      title={`Key ${shortcut}`}
      // A button that is disabled loses the focus; this one only says so.
      aria-disabled={index === undefined}
      onClick={() => index !== undefined && onOpen(index)}
    >
      {label}
    </button>
  );
}

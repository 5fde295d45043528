import { useState } from 'preact/hooks';
import type { TokenColumns } from '../../api.ts';
import { type TokenMetricName, tokenMetrics } from './token-colors.tsx';
import { toSAPair } from './token-details.tsx';
import type { Neighbours } from './token-navigation.ts';

/** Selects what tokens are coloured by, and copies their numbers. */
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
        getValue={() => toSAPair(columns, shown)}
      />
      <CopyJson key={columns.step} label="Copy all as JSON" getValue={() => columns} />
    </div>
  );
}

/** A button that copies a value as JSON; if the browser forbids it, shows the text to copy by hand. */
function CopyJson({
  label,
  getValue,
}: {
  readonly label: string;
  readonly getValue: () => unknown;
}) {
  const [state, setState] = useState<{ readonly done: boolean; readonly text?: string }>();
  const copy = async () => {
    const text = JSON.stringify(getValue(), undefined, 2);
    try {
      await navigator.clipboard.writeText(text);
      setState({ done: true });
    } catch {
      // Pages from other machines or opened as a file may have no clipboard.
      setState({ done: false, text });
    }
  };
  return (
    <span class="tokens-copy">
      <button type="button" onClick={copy}>
        {label}
      </button>
      <span role="status" class="tokens-muted">
        {state?.done === true && '✓ copied'}
      </span>
      {state?.text !== undefined && (
        <textarea
          class="tokens-copy-text"
          aria-label={`${label}: text to copy`}
          readOnly
          rows={6}
          value={state.text}
          onFocus={(event) => event.currentTarget.select()}
        />
      )}
    </span>
  );
}

/** Buttons that open the previous and the next sample. */
export function NeighbourButtons({
  previous,
  next,
  onOpen,
}: Pick<Neighbours, 'previous' | 'next'> & {
  readonly onOpen: (index: number) => void;
}) {
  return (
    <div class="tokens-steps">
      <NeighbourButton label="← Previous sample" shortcut="p" index={previous} onOpen={onOpen} />
      <NeighbourButton label="Next sample →" shortcut="n" index={next} onOpen={onOpen} />
    </div>
  );
}

function NeighbourButton({
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
      title={`Shortcut: ${shortcut}`}
      // A disabled button would lose the focus.
      aria-disabled={index === undefined}
      onClick={() => index !== undefined && onOpen(index)}
    >
      {label}
    </button>
  );
}

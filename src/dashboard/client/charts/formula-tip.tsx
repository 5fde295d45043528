import { metricNotes } from 'virtual:metric-notes';
import { useId, useState } from 'preact/hooks';
import { findNote, type MetricNote } from './metric-notes.ts';

/** A button that tells, under the mouse or with the focus, what a chart's metrics are. */
export function FormulaTip({ title, metrics }: { title: string; metrics: readonly string[] }) {
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
        aria-label={`Formula of ${title}`}
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

/** Markdown's `code` in a text. */
function WithCode({ text }: { text: string }) {
  return (
    <>{text.split('`').map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part))}</>
  );
}

import { useState } from 'preact/hooks';

/** A button that copies something as JSON; where the browser forbids it, shows it to copy by hand. */
export function CopyJson({
  label,
  make,
}: {
  readonly label: string;
  readonly make: () => unknown;
}) {
  const [state, setState] = useState<{ readonly done: boolean; readonly text?: string }>();
  const copy = async () => {
    const text = JSON.stringify(make(), undefined, 2);
    try {
      await navigator.clipboard.writeText(text);
      setState({ done: true });
    } catch {
      // Pages that are not from this machine, or were opened as a file, may have no clipboard.
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

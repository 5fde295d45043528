import { useLayoutEffect, useRef } from 'preact/hooks';
import { cleanName, longestName } from './labeller-name.ts';

interface LabellerFormProps {
  readonly name: string | undefined;
  readonly onName: (name: string) => void;
  /** Undefined where there is no name to go back to. */
  readonly onCancel: (() => void) | undefined;
}

/** Asks who labels. */
export function LabellerForm({ name, onName, onCancel }: LabellerFormProps) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    const given = cleanName(input.current?.value ?? '');
    if (given !== undefined) onName(given);
  };
  return (
    <section class="label-page">
      <h2>Label</h2>
      <form class="label-name" onSubmit={submit}>
        <label for="label-name">Your name</label>
        <input
          id="label-name"
          ref={input}
          defaultValue={name ?? ''}
          required
          pattern=".*\S.*"
          maxLength={longestName}
          autocomplete="name"
          aria-describedby="label-name-hint"
        />
        <p id="label-name-hint" class="label-hint">
          It is kept with your answers, so that people can be told apart, and in this browser.
        </p>
        <div class="label-row">
          <button type="submit" class="label-primary">
            Start
          </button>
          {onCancel && (
            <button type="button" onClick={onCancel}>
              Cancel
            </button>
          )}
        </div>
      </form>
    </section>
  );
}

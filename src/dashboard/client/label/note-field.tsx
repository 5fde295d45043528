import type { RefObject } from 'preact';
import type { LabelSession } from './label-session.ts';

interface NoteFieldProps {
  readonly session: LabelSession;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

const longestNote = 2000;

/** A word about the answer. Keys that are typed here answer nothing. */
export function NoteField({ session, field }: NoteFieldProps) {
  return (
    <label class="label-note">
      <span>
        Note (optional) <kbd>N</kbd> <span class="label-hint">Esc leaves it</span>
      </span>
      <textarea
        ref={field}
        rows={1}
        maxLength={longestNote}
        value={session.note.value}
        readOnly={session.state.value !== 'ready'}
        onInput={(event) => {
          session.note.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
    </label>
  );
}

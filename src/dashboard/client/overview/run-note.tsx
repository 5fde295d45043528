import './run-note.css';
import { useRef, useState } from 'preact/hooks';
import { type LiveSource, maxNoteLength, type RunSummary } from '../../api.ts';
import { visibleText } from '../format.ts';

interface RunNoteProps {
  readonly run: Pick<RunSummary, 'id' | 'name' | 'note'>;
  /** Undefined in a report, whose notes cannot be changed. */
  readonly live: LiveSource | undefined;
}

/** What people wrote about a run, with a form to change it. */
export function RunNote({ run, live }: RunNoteProps) {
  const [isEditing, setEditing] = useState(false);
  if (isEditing && live !== undefined) {
    return <NoteForm run={run} live={live} onDone={() => setEditing(false)} />;
  }
  return (
    <div class="run-note">
      {run.note !== '' && <p dir="auto">{visibleText(run.note)}</p>}
      {live !== undefined && (
        <button
          type="button"
          class="link-button"
          aria-label={`${run.note === '' ? 'Add a note to' : 'Edit the note of'} ${run.name}`}
          onClick={() => setEditing(true)}
        >
          {run.note === '' ? 'Add a note' : 'Edit note'}
        </button>
      )}
    </div>
  );
}

interface NoteFormProps {
  readonly run: RunNoteProps['run'];
  readonly live: LiveSource;
  readonly onDone: () => void;
}

/** Ctrl+Enter saves, Escape cancels. */
function NoteForm({ run, live, onDone }: NoteFormProps) {
  // Read when saving: state would lag behind a key pressed right after the last letter.
  const area = useRef<HTMLTextAreaElement>(null);
  const [error, setError] = useState<string>();
  const save = async () => {
    try {
      await live.saveNote(run.id, area.current!.value);
      onDone();
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason));
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onDone();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save();
  };
  return (
    <form
      class="run-note"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        aria-label={`Note of ${run.name}`}
        rows={3}
        maxLength={maxNoteLength}
        ref={area}
        defaultValue={run.note}
        // biome-ignore lint/a11y/noAutofocus: the user has just opened the form
        autoFocus
        onKeyDown={onKeyDown}
      />
      {error !== undefined && <p role="alert">{error}</p>}
      <div class="run-note-buttons">
        <button type="submit" class="primary">
          Save note
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}

import type { LabelSession } from './label-session.ts';

/** What the server refused, in one line, and what can be done about it. */
export function SessionError({ session }: { session: LabelSession }) {
  const error = session.error.value;
  const state = session.state.value;
  return (
    <div class="label-alert" role="alert">
      {error !== undefined && (
        <p class="label-error">
          <span>
            {state === 'unsent' && <strong>Your answer is kept, not sent. </strong>}
            {error}
          </span>
          {state === 'unsent' && (
            <>
              <button type="button" class="label-primary" onClick={() => void session.retry()}>
                Send again
              </button>
              <button type="button" onClick={() => void session.undo()}>
                Change it
              </button>
              <button type="button" onClick={() => void session.drop()}>
                Leave it out
              </button>
            </>
          )}
          {state === 'failed' && (
            <button type="button" onClick={() => void session.retry()}>
              Try again
            </button>
          )}
        </p>
      )}
    </div>
  );
}

import type { ComponentChildren, RefObject } from 'preact';
import type { LabelChoice, LabelTask } from '../../api.ts';
import { visibleText } from '../format.ts';
import { KeyButton, ResponseCard } from './controls.tsx';
import { describeOrder, type LabelCommand } from './label-keys.ts';
import type { LabelSession } from './label-session.ts';
import { isComplete, moveResponse } from './ranking-order.ts';

interface TaskViewProps extends Omit<TaskPartProps, 'isReady'> {
  /** What the labeller is asked. */
  readonly question: string;
  /** The note field. */
  readonly note: ComponentChildren;
}

/** A prompt, its responses, and the answer buttons. */
export function TaskView({ session, task, act, question, note }: TaskViewProps) {
  const isReady = session.state.value === 'ready';
  const props = { session, task, act, isReady };
  return (
    <div class="label-task" aria-busy={session.state.value === 'sending'}>
      <section class="label-prompt" aria-label="Prompt">
        <h3>Prompt</h3>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long prompts must scroll by keyboard */}
        <div class="label-text" dir="auto" tabIndex={0}>
          {task.prompt === '' ? <em>(empty)</em> : visibleText(task.prompt)}
        </div>
      </section>
      <h3 class="label-question" id="label-question" dir="auto">
        {question}
      </h3>
      {task.kind === 'ranking' ? <RankingCards {...props} /> : <Cards {...props} />}
      {note}
      <div class="label-bar">
        <SessionError session={session} />
        {task.kind === 'pair' && <PairKeys {...props} />}
        {task.kind === 'rating' && <RatingKeys {...props} />}
        {task.kind === 'ranking' && <RankingKeys {...props} />}
        <KeyButton keys="U" title="Undo" isReady={isReady} onPress={() => act({ type: 'undo' })} />
      </div>
    </div>
  );
}

function Cards({ session, task }: TaskPartProps) {
  const chosen = session.chosen.value;
  const isPair = task.kind === 'pair';
  return (
    <div class={isPair ? 'label-cards label-cards-pair' : 'label-cards'}>
      {task.responses.map((text, index) => (
        <ResponseCard
          key={index}
          title={isPair ? `Response ${index + 1}` : 'Response'}
          text={text}
          isChosen={chosen?.kind === 'pair' && chosen.choice === index}
        />
      ))}
    </div>
  );
}

const pairKeys = [
  ['1', 'First', 0],
  ['2', 'Second', 1],
  ['0', 'Tie', 'tie'],
  ['X', 'Both bad', 'both-bad'],
] as const;

function PairKeys({ session, act, isReady }: TaskPartProps) {
  return (
    <fieldset class="label-keys" aria-labelledby="label-question">
      {pairKeys.map(([keys, title, choice]) => (
        <KeyButton
          key={keys}
          isChosen={isPairChoice(session.chosen.value, choice)}
          onPress={() => act({ type: 'pair', choice })}
          {...{ keys, title, isReady }}
        />
      ))}
    </fieldset>
  );
}

function isPairChoice(
  chosen: LabelChoice | undefined,
  choice: 0 | 1 | 'tie' | 'both-bad',
): boolean {
  return chosen?.kind === 'pair' && chosen.choice === choice;
}

const ratingTitles = ['Very bad', 'Bad', 'Fair', 'Good', 'Very good'];

function RatingKeys({ session, act, isReady }: TaskPartProps) {
  const chosen = session.chosen.value;
  return (
    <fieldset class="label-keys" aria-labelledby="label-question">
      {ratingTitles.map((title, i) => (
        <KeyButton
          key={title}
          keys={String(i + 1)}
          isChosen={chosen?.kind === 'rating' && chosen.rating === i + 1}
          onPress={() => act({ type: 'rating', rating: i + 1 })}
          {...{ title, isReady }}
        />
      ))}
    </fieldset>
  );
}

/** Props of every part of a task. */
interface TaskPartProps {
  readonly session: LabelSession;
  readonly task: LabelTask;
  readonly act: (command: LabelCommand) => void;
  readonly isReady: boolean;
}

/** The responses of a ranking; each shows its rank and can be moved. */
function RankingCards(props: TaskPartProps) {
  const { session, task } = props;
  const ranked = session.order.value.responses;
  return (
    <div class="label-cards label-cards-ranking">
      {task.responses.map((text, index) => (
        <ResponseCard
          key={index}
          title={`Response ${index + 1}`}
          text={text}
          isChosen={ranked.includes(index)}
        >
          <RankingControls {...props} index={index} />
        </ResponseCard>
      ))}
    </div>
  );
}

function RankingControls({ session, act, isReady, index }: TaskPartProps & { index: number }) {
  const order = session.order.value;
  const rank = order.responses.indexOf(index);
  const move = (by: -1 | 1) => {
    if (!isReady) return;
    session.order.value = moveResponse(order, { response: index, by });
    session.announcement.value = describeOrder(session.order.value.responses);
  };
  if (rank < 0) {
    const pick = () => act({ type: 'rank', response: index });
    const title = order.responses.length === 0 ? 'Best' : 'Next best';
    return <KeyButton keys={String(index + 1)} onPress={pick} {...{ title, isReady }} />;
  }
  const name = `Move response ${index + 1}`;
  return (
    <span class="label-rank">
      <strong>{rank === 0 ? 'Best' : `Rank ${rank + 1}`}</strong>
      <button
        type="button"
        aria-label={`${name} up`}
        aria-disabled={rank === 0}
        onClick={() => move(-1)}
      >
        ↑
      </button>
      <button
        type="button"
        aria-label={`${name} down`}
        aria-disabled={rank === order.responses.length - 1}
        onClick={() => move(1)}
      >
        ↓
      </button>
    </span>
  );
}

/** The order so far, and its buttons. */
function RankingKeys({ session, act, isReady }: TaskPartProps) {
  const order = session.order.value;
  const has = order.responses.length > 0;
  return (
    <fieldset class="label-keys">
      <legend class="label-hidden">Order of preference</legend>
      <span class="label-order">{describeOrder(order.responses)}</span>
      <KeyButton
        keys="⌫"
        title="Remove last"
        isReady={isReady && has}
        onPress={() => act({ type: 'remove-last' })}
      />
      <KeyButton
        keys="↵"
        title="Send"
        isPrimary
        isReady={isReady && isComplete(order)}
        onPress={() => act({ type: 'send' })}
      />
    </fieldset>
  );
}

/** An error, with buttons to resolve it. */
export function SessionError({ session }: { session: LabelSession }) {
  const error = session.error.value;
  const state = session.state.value;
  return (
    <div class="label-alert" role="alert">
      {error !== undefined && (
        <p class="label-error">
          <span>
            {state === 'unsent' && <strong>Your answer is saved but not sent. </strong>}
            {error}
          </span>
          {state === 'unsent' && (
            <>
              <button type="button" class="label-primary" onClick={() => void session.retry()}>
                Send again
              </button>
              <button type="button" onClick={() => void session.undo()}>
                Change answer
              </button>
              <button type="button" onClick={() => void session.discard()}>
                Discard answer
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

interface NoteFieldProps {
  readonly session: LabelSession;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

const longestNote = 2000;

/** A note about the answer; shortcuts are off while typing. */
export function NoteField({ session, field }: NoteFieldProps) {
  return (
    <label class="label-note">
      <span>
        Note (optional) <kbd>N</kbd> <span class="label-hint">Esc to leave</span>
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

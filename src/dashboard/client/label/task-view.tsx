import type { ComponentChildren } from 'preact';
import type { LabelChoice } from '../../api.ts';
import { visibleText } from '../format.ts';
import { KeyButton } from './key-button.tsx';
import { RankingCards, RankingKeys } from './ranking-task.tsx';
import { ResponseCard } from './response-card.tsx';
import { SessionError } from './session-error.tsx';
import type { TaskPartProps } from './task-part.ts';

interface TaskViewProps extends Omit<TaskPartProps, 'isReady'> {
  /** Where a note is written. */
  readonly note: ComponentChildren;
}

/** A prompt, its responses, and the keys that answer. */
export function TaskView({ session, task, act, note }: TaskViewProps) {
  const isReady = session.state.value === 'ready';
  const props = { session, task, act, isReady };
  return (
    <div class="label-task" aria-busy={session.state.value === 'sending'}>
      <section class="label-prompt" aria-label="Prompt">
        <h3>Prompt</h3>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long prompts scroll, also by keyboard */}
        <div class="label-text" dir="auto" tabIndex={0}>
          {task.prompt === '' ? <em>(empty)</em> : visibleText(task.prompt)}
        </div>
      </section>
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
      {task.responses.map((text, place) => (
        <ResponseCard
          key={place}
          title={isPair ? `Response ${place + 1}` : 'Response'}
          text={text}
          isChosen={chosen?.kind === 'pair' && chosen.choice === place}
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
    <fieldset class="label-keys">
      <legend class="label-hidden">Which response is better?</legend>
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
    <fieldset class="label-keys">
      <legend class="label-hidden">How good is the response?</legend>
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

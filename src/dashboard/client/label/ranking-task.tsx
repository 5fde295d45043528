import { KeyButton } from './key-button.tsx';
import { describeOrder } from './perform-command.ts';
import { isComplete, movePlace } from './ranking-order.ts';
import { ResponseCard } from './response-card.tsx';
import type { TaskPartProps } from './task-part.ts';

/** The responses of a ranking; each shows its place in the order, and can be moved in it. */
export function RankingCards(props: TaskPartProps) {
  const { session, task } = props;
  const { places } = session.order.value;
  return (
    <div class="label-cards label-cards-ranking">
      {task.responses.map((text, place) => (
        <ResponseCard
          key={place}
          title={`Response ${place + 1}`}
          text={text}
          isChosen={places.includes(place)}
        >
          <RankingControls {...props} place={place} />
        </ResponseCard>
      ))}
    </div>
  );
}

function RankingControls({ session, act, isReady, place }: TaskPartProps & { place: number }) {
  const order = session.order.value;
  const rank = order.places.indexOf(place);
  const move = (by: -1 | 1) => {
    if (!isReady) return;
    session.order.value = movePlace(order, { place, by });
    session.announcement.value = describeOrder(session.order.value.places);
  };
  if (rank < 0) {
    const pick = () => act({ type: 'rank', place });
    const title = order.places.length === 0 ? 'Best' : 'Next best';
    return <KeyButton keys={String(place + 1)} onPress={pick} {...{ title, isReady }} />;
  }
  const name = `Move response ${place + 1}`;
  return (
    <span class="label-rank">
      <strong>{rank === 0 ? 'Best' : `Place ${rank + 1}`}</strong>
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
        aria-disabled={rank === order.places.length - 1}
        onClick={() => move(1)}
      >
        ↓
      </button>
    </span>
  );
}

/** The order so far, and what can be done with it. */
export function RankingKeys({ session, act, isReady }: TaskPartProps) {
  const order = session.order.value;
  const has = order.places.length > 0;
  return (
    <fieldset class="label-keys">
      <legend class="label-hidden">Order of preference</legend>
      <span class="label-order">{describeOrder(order.places)}</span>
      <KeyButton
        keys="⌫"
        title="Take back"
        isReady={isReady && has}
        onPress={() => act({ type: 'take-back' })}
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

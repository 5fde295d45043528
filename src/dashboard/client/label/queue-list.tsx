import type { LabelQueue, LiveSource, RunSummary } from '../../api.ts';
import { commandLine } from '../command-line.ts';
import { ProgressBar } from './controls.tsx';
import { describeEnd, hasEnded } from './labelling-done.tsx';
import { kindTitles } from './new-queue-form.tsx';
import { answersOf, type QueueStore, sortQueues } from './queue-store.ts';

interface QueueListProps {
  readonly live: LiveSource;
  readonly store: QueueStore;
  readonly runs: readonly RunSummary[];
  readonly labeller: string;
  readonly onOpen: (queue: string) => void;
}

/** All queues; those that a run waits for come first. */
export function QueueList({ live, store, runs, labeller, onOpen }: QueueListProps) {
  const queues = store.queues.value;
  const error = store.error.value;
  return (
    <section class="label-queues" aria-label="Queues">
      {error !== undefined && (
        <p class="label-error" role="alert">
          <span>{error}</span>{' '}
          <button type="button" onClick={() => void store.load()}>
            Try again
          </button>
        </p>
      )}
      {queues === undefined && error === undefined && <p class="label-hint">Loading queues…</p>}
      {queues?.length === 0 && (
        <p class="label-hint">
          There is nothing to label yet. Create a queue below, or score the responses of a run that
          was started with <code>{commandLine('train --reward human')}</code>.
        </p>
      )}
      <ul class="label-list">
        {sortQueues(queues ?? []).map((queue) => (
          <QueueCard key={queue.id} {...{ live, runs, queue, labeller, onOpen }} />
        ))}
      </ul>
    </section>
  );
}

interface QueueCardProps extends Omit<QueueListProps, 'store'> {
  readonly queue: LabelQueue;
}

function QueueCard({ live, runs, queue, labeller, onOpen }: QueueCardProps) {
  const { id, name, kind, total, answered } = queue;
  const mine = answersOf(queue, labeller);
  const isOver = hasEnded(queue, runs);
  const waiting =
    answered < total ? 'A run is waiting for your scores' : 'A run asks for scores here';
  return (
    <li class={queue.live && !isOver ? 'label-queue label-queue-live' : 'label-queue'}>
      {queue.live && !isOver && <p class="label-waits">{waiting}</p>}
      {isOver && <p>{describeEnd(runs.find((run) => run.id === queue.run))}</p>}
      <h3 dir="auto">{name}</h3>
      <p class="label-hint" dir="auto">
        {kindTitles[kind]}: {queue.question}
      </p>
      <ProgressBar label={`Answered in ${name}`} {...{ value: answered, total }} />
      <p class="label-facts">
        <span>
          {answered} of {total} answered, {mine} by you
        </span>
        {answered > 0 && <span>{describeAgreement(queue)}</span>}
      </p>
      <Labellers queue={queue} />
      <div class="label-row">
        <button
          type="button"
          class="label-primary"
          aria-label={`Label ${name}`}
          onClick={() => onOpen(id)}
        >
          {mine > 0 && mine < total ? 'Continue' : 'Label'}
        </button>
        <a href={live.exportUrl(id)} download aria-label={`Export answers of ${name}`}>
          Export
        </a>
      </div>
    </li>
  );
}

function Labellers({ queue }: { queue: LabelQueue }) {
  if (queue.labellers.length === 0) return null;
  return (
    <ul class="label-people" aria-label="Labellers">
      {queue.labellers.map(({ name, answers }) => (
        <li key={name}>
          <span dir="auto">{name}</span> {answers}
        </li>
      ))}
    </ul>
  );
}

function describeAgreement({ agreement }: LabelQueue): string {
  return agreement === null
    ? 'No task has answers from several people yet'
    : `Labellers agree on ${Math.round(100 * agreement)}% of shared tasks`;
}

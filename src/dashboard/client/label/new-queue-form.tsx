import { useRef, useState } from 'preact/hooks';
import type { LabelTaskKind, LiveSource, QueueSource, RunSummary } from '../../api.ts';
import { FillingProgress } from './filling-progress.tsx';
import { kindTitles, limits, readQueueFields, sourceTitles } from './new-queue.ts';
import { type QueueStore, sayError } from './queue-store.ts';
import { SourceFields } from './source-fields.tsx';

interface NewQueueFormProps {
  readonly live: LiveSource;
  readonly store: QueueStore;
  readonly runs: readonly RunSummary[];
}

/** Makes a queue. */
export function NewQueueForm({ live, store, runs }: NewQueueFormProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const [kind, setKind] = useState<LabelTaskKind>('pair');
  const [from, setFrom] = useState<QueueSource['from']>('samples');
  const [state, setState] = useState<{ isBusy: boolean; said?: string; error?: string }>({
    isBusy: false,
  });
  const submit = async (event: Event) => {
    event.preventDefault();
    if (state.isBusy) return;
    const form = event.currentTarget as HTMLFormElement;
    const fields = Object.fromEntries(new FormData(form)) as Record<string, string>;
    setState({ isBusy: true, said: 'Making the queue…' });
    try {
      const queue = await live.createQueue(readQueueFields(fields, runs));
      store.put(queue);
      setState({ isBusy: false, said: `Made ${queue.name} with ${queue.total} tasks.` });
      if (details.current) details.current.open = false;
    } catch (error) {
      setState({ isBusy: false, error: sayError(error) });
    }
  };
  return (
    <>
      <details class="label-new" ref={details}>
        <summary>New queue</summary>
        <form onSubmit={submit}>
          <Choice
            legend="What people do"
            name="kind"
            titles={kindTitles}
            {...{ value: kind, onValue: setKind }}
          />
          <Choice
            legend="Where responses come from"
            name="from"
            titles={sourceTitles}
            {...{ value: from, onValue: setFrom }}
          />
          <div class="label-fields">
            <SourceFields from={from} runs={runs} />
            {kind === 'ranking' && (
              <WholeField name="responses" title="Responses to rank" of={limits.responses} />
            )}
            <WholeField name="limit" title="Tasks at most" of={limits.tasks} />
            <label>
              Name of the queue (optional)
              <input name="name" maxLength={limits.name} />
            </label>
          </div>
          {state.error !== undefined && (
            <p class="label-error" role="alert">
              {state.error}
            </p>
          )}
          <button type="submit" class="label-primary" aria-disabled={state.isBusy}>
            Make the queue
          </button>
        </form>
      </details>
      <p class="label-hint" role="status">
        {state.said}
      </p>
      <FillingProgress queue={store.filling.value} />
    </>
  );
}

interface ChoiceProps<T extends string> {
  readonly legend: string;
  readonly name: string;
  readonly titles: Readonly<Record<T, string>>;
  readonly value: T;
  readonly onValue: (value: T) => void;
}

function Choice<T extends string>({ legend, name, titles, value, onValue }: ChoiceProps<T>) {
  return (
    <fieldset class="label-choice">
      <legend>{legend}</legend>
      {(Object.entries(titles) as [T, string][]).map(([key, title]) => (
        <label key={key}>
          <input
            type="radio"
            value={key}
            checked={key === value}
            {...{ name, onChange: () => onValue(key) }}
          />
          {title}
        </label>
      ))}
    </fieldset>
  );
}

interface WholeFieldProps {
  readonly name: string;
  readonly title: string;
  readonly of: { readonly min: number; readonly max: number; readonly default: number };
}

function WholeField({ name, title, of }: WholeFieldProps) {
  return (
    <label>
      {title}
      <input
        type="number"
        required
        defaultValue={String(of.default)}
        {...{ name, min: of.min, max: of.max }}
      />
    </label>
  );
}

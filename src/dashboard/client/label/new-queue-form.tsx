import { useRef, useState } from 'preact/hooks';
import type {
  FillingQueue,
  LabelTaskKind,
  LiveSource,
  NewQueue,
  QueueSource,
  RunSummary,
} from '../../api.ts';
import { ProgressBar } from './controls.tsx';
import { formatError, type QueueStore } from './queue-store.ts';
import { defaultSource, SourceFields } from './source-fields.tsx';

interface NewQueueFormProps {
  readonly live: LiveSource;
  readonly store: QueueStore;
  readonly runs: readonly RunSummary[];
}

/** The form that creates a queue. */
export function NewQueueForm({ live, store, runs }: NewQueueFormProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const [kind, setKind] = useState<LabelTaskKind>('pair');
  const [selected, setFrom] = useState<QueueSource['from']>();
  const from = selected ?? defaultSource(runs);
  const [state, setState] = useState<{ isBusy: boolean; status?: string; error?: string }>({
    isBusy: false,
  });
  const submit = async (event: Event) => {
    event.preventDefault();
    if (state.isBusy) return;
    const form = event.currentTarget as HTMLFormElement;
    const fields = Object.fromEntries(new FormData(form)) as Record<string, string>;
    setState({ isBusy: true, status: 'Creating the queue…' });
    try {
      const queue = await live.createQueue(readQueueFields(fields, runs));
      store.put(queue);
      setState({ isBusy: false, status: `Created ${queue.name} with ${queue.total} tasks.` });
      if (details.current) details.current.open = false;
    } catch (error) {
      setState({ isBusy: false, error: formatError(error) });
    }
  };
  return (
    <>
      <details class="label-new" ref={details} open={store.queues.value?.length === 0}>
        <summary>New queue</summary>
        <form onSubmit={submit}>
          <Choice
            legend="Task"
            name="kind"
            titles={kindTitles}
            {...{ value: kind, onValue: setKind }}
          />
          {kind === 'ranking' && from === 'compare' && (
            <p class="label-hint">A comparison has two responses: choose or rate them.</p>
          )}
          <Choice
            legend="Source of responses"
            name="from"
            titles={sourceTitles}
            {...{ value: from, onValue: setFrom }}
          />
          <div class="label-fields">
            <SourceFields from={from} runs={runs} />
            {kind === 'ranking' && from !== 'compare' && (
              <NumberField name="responses" title="Responses to rank" range={limits.responses} />
            )}
            <NumberField
              name="limit"
              title={from === 'compare' ? 'Maximum number of prompts' : 'Maximum number of tasks'}
              range={limits.tasks}
            />
            <label>
              Question (optional)
              <input name="question" maxLength={limits.question} placeholder="Which is better?" />
            </label>
            <label>
              Name (optional)
              <input name="name" maxLength={limits.name} />
            </label>
          </div>
          {state.error !== undefined && (
            <p class="label-error" role="alert">
              {state.error}
            </p>
          )}
          <button type="submit" class="label-primary" aria-disabled={state.isBusy}>
            Create queue
          </button>
        </form>
      </details>
      <p class="label-hint" role="status">
        {state.status}
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

interface NumberFieldProps {
  readonly name: string;
  readonly title: string;
  readonly range: { readonly min: number; readonly max: number; readonly default: number };
}

function NumberField({ name, title, range }: NumberFieldProps) {
  return (
    <label>
      {title}
      <input
        type="number"
        required
        defaultValue={String(range.default)}
        {...{ name, min: range.min, max: range.max }}
      />
    </label>
  );
}

/** Progress of a model that fills a queue. */
function FillingProgress({ queue }: { queue: FillingQueue | null }) {
  if (queue === null) return null;
  const { name, done, total } = queue;
  return (
    <div class="label-filling">
      <ProgressBar label={`Filling ${name}`} value={done} total={total} />
      <span>
        A model is filling <strong dir="auto">{name}</strong>: {done} of {total} prompts done
      </span>
    </div>
  );
}

export const kindTitles: Readonly<Record<LabelTaskKind, string>> = {
  pair: 'Choose the better of two',
  rating: 'Rate from 1 to 5',
  ranking: 'Rank several',
};

const sourceTitles: Readonly<Record<QueueSource['from'], string>> = {
  compare: "A run's policy against its reference or another run",
  samples: 'Samples of a run',
  generate: 'New responses from a model',
  file: 'A file',
};

/** Limits of the form; a ranking uses the keys 1 to 9. */
const limits = {
  name: 80,
  question: 200,
  responses: { min: 2, max: 9, default: 4 },
  tasks: { min: 1, max: 10_000, default: 100 },
} as const;

/** The fields of the form, as typed. */
export type QueueFields = Readonly<Record<string, string>>;

/** Reads the form; a queue without a name is named after its source.
 *  @example { kind: 'pair', from: 'file', file: 'data/a.jsonl' }  →  named 'pairs of a.jsonl' */
export function readQueueFields(fields: QueueFields, runs: readonly RunSummary[]): NewQueue {
  const kind = fields.kind as LabelTaskKind;
  const responses = readInteger(fields.responses);
  const limit = readInteger(fields.limit);
  const question = fields.question?.trim() ?? '';
  return {
    name: fields.name?.trim() || nameQueue(fields, runs).slice(0, limits.name),
    kind,
    source: readSource(fields),
    ...(question !== '' && { question }),
    ...(kind === 'ranking' && responses !== undefined && { responses }),
    ...(limit !== undefined && { limit }),
  };
}

function readSource(fields: QueueFields): QueueSource {
  const text = (name: string) => fields[name]?.trim() ?? '';
  if (fields.from === 'file') return { from: 'file', file: text('file') };
  if (fields.from === 'compare') {
    const against = text('against');
    return { from: 'compare', run: text('run'), ...(against !== '' && { against }) };
  }
  if (fields.from === 'samples') {
    const fromStep = readInteger(fields.fromStep);
    return { from: 'samples', run: text('run'), ...(fromStep !== undefined && { fromStep }) };
  }
  const maxNewTokens = readInteger(fields.maxNewTokens);
  return {
    from: 'generate',
    model: text('model'),
    prompts: text('prompts'),
    ...(maxNewTokens !== undefined && { maxNewTokens }),
  };
}

function nameQueue(fields: QueueFields, runs: readonly RunSummary[]): string {
  if (fields.from !== 'compare') return `${fields.kind}s of ${nameSource(fields, runs)}`;
  const { run, against } = fields;
  return `${nameRun(run, runs)} against ${against ? nameRun(against, runs) : 'its reference'}`;
}

function nameRun(id: string | undefined, runs: readonly RunSummary[]): string {
  return runs.find((run) => run.id === id)?.name ?? 'a run';
}

function nameSource(fields: QueueFields, runs: readonly RunSummary[]): string {
  if (fields.from === 'samples') return nameRun(fields.run, runs);
  const path = (fields.from === 'file' ? fields.file : fields.model) ?? '';
  return path.trim().split(/[\\/]/).filter(Boolean).at(-1) ?? 'a model';
}

/** Undefined if the field is empty. */
function readInteger(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : Number(trimmed);
}

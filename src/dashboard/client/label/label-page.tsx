import { useEffect, useMemo, useState } from 'preact/hooks';
import type { DashboardSource, LiveSource, RunSummary } from '../../api.ts';
import { commandLine } from '../command-line.ts';
import { browserMemory, LabellerForm, readName, saveName } from './labeller-form.tsx';
import { Labelling } from './labelling.tsx';
import { NewQueueForm } from './new-queue-form.tsx';
import { QueueList } from './queue-list.tsx';
import { QueueStore } from './queue-store.ts';
import './label-form.css';
import './label-page.css';
import './labelling.css';

interface LabelPageProps {
  readonly source: DashboardSource;
  readonly runs: readonly RunSummary[];
}

/** The page where people label responses. */
export function LabelPage({ source, runs }: LabelPageProps) {
  if (source.live !== undefined) return <LiveLabelPage live={source.live} runs={runs} />;
  return (
    <section class="label-page">
      <h2>Label</h2>
      <p>
        A report is read-only. Open the run with <code>{commandLine('dashboard')}</code> to label
        its samples.
      </p>
    </section>
  );
}

function LiveLabelPage({ live, runs }: { live: LiveSource; runs: readonly RunSummary[] }) {
  const memory = useMemo(browserMemory, []);
  const store = useMemo(() => new QueueStore(live), [live]);
  useEffect(() => store.close, [store]);
  const [name, setName] = useState(() => readName(memory));
  const [isRenaming, setRenaming] = useState(false);
  const [open, setOpen] = useState<string>();
  if (name === undefined || isRenaming) {
    const changeName = (newName: string) => {
      saveName(memory, newName);
      setName(newName);
      setRenaming(false);
    };
    const cancel = name === undefined ? undefined : () => setRenaming(false);
    return <LabellerForm name={name} onName={changeName} onCancel={cancel} />;
  }
  const close = () => setOpen(undefined);
  return (
    <section class="label-page">
      <header class="label-header">
        <h2>Label</h2>
        <span class="label-who">
          as <strong dir="auto">{name}</strong>{' '}
          <button type="button" onClick={() => setRenaming(true)}>
            Change name
          </button>
        </span>
      </header>
      {open === undefined ? (
        <>
          <QueueList {...{ live, store, runs, labeller: name, onOpen: setOpen }} />
          <NewQueueForm {...{ live, store, runs }} />
        </>
      ) : (
        <Labelling
          key={JSON.stringify([open, name])}
          {...{ live, store, memory, runs, queue: open, labeller: name, onClose: close }}
        />
      )}
    </section>
  );
}

import { useEffect, useRef, useState } from 'preact/hooks';
import type { DashboardSource, RunSummary, SampleRow } from '../../api.ts';
import { EvaluationTab } from './evaluation-tab.tsx';
import { Empty, explainNoSamples } from './explain-empty.tsx';
import { SampleDetails } from './sample-details.tsx';
import {
  newestFirst,
  noFilters,
  SampleFilterForm,
  type SampleFilters,
  type SampleSort,
  toQuery,
} from './sample-filters.tsx';
import { SampleGrid } from './sample-grid.tsx';
import { SampleMarks } from './sample-grid-row.tsx';
import { useSampleList } from './sample-list.ts';
import './samples.css';

interface SamplesPageProps {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  readonly onOpenTokens: (index: number) => void;
}

const tabs = ['samples', 'evaluation'] as const;
type Tab = (typeof tabs)[number];

const titles: Readonly<Record<Tab, string>> = { samples: 'Samples', evaluation: 'Evaluation' };

/** The texts of a run: samples of training, and evaluations compared with the reference. */
export function SamplesPage({ source, run, onOpenTokens }: SamplesPageProps) {
  const [tab, setTab] = useState<Tab>('samples');
  return (
    <div class="samples-page">
      <h1 class="visually-hidden">Samples of {run.name}</h1>
      <TabList tab={tab} onSelect={setTab} />
      <div
        class="samples-panel"
        role="tabpanel"
        id="samples-panel"
        aria-labelledby={`samples-tab-${tab}`}
      >
        {tab === 'samples' ? (
          <Samples key={run.id} source={source} run={run} onOpenTokens={onOpenTokens} />
        ) : (
          <EvaluationTab key={run.id} source={source} run={run} />
        )}
      </div>
    </div>
  );
}

function TabList({ tab, onSelect }: { readonly tab: Tab; readonly onSelect: (tab: Tab) => void }) {
  const handleArrow = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const other = tab === 'samples' ? 'evaluation' : 'samples';
    onSelect(other);
    document.getElementById(`samples-tab-${other}`)?.focus();
  };
  return (
    <div class="samples-tabs" role="tablist" aria-label="Texts of this run" onKeyDown={handleArrow}>
      {tabs.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`samples-tab-${name}`}
          aria-selected={name === tab}
          aria-controls="samples-panel"
          tabIndex={name === tab ? 0 : -1}
          onClick={() => onSelect(name)}
        >
          {titles[name]}
        </button>
      ))}
    </div>
  );
}

/** The list of samples, or why there are none. */
function Samples(props: SamplesPageProps) {
  const { source, run } = props;
  if (run.counts.samples > 0) return <SampleBrowser {...props} />;
  return <Empty source={source} run={run} explain={explainNoSamples} />;
}

/** The state of the list, restored when the user comes back from the tokens of a sample. */
interface BrowserState {
  readonly filters: SampleFilters;
  readonly sort: SampleSort;
  readonly active: number;
  readonly scrollTop: number;
  readonly open: SampleRow | undefined;
}

const initialState: BrowserState = {
  filters: noFilters,
  sort: newestFirst,
  active: 0,
  scrollTop: 0,
  open: undefined,
};

const savedStates = new Map<string, BrowserState>();

/** The list of samples with its filters, and the details of one. */
function SampleBrowser({ source, run, onOpenTokens }: SamplesPageProps) {
  const [state, setState] = useState(savedStates.get(run.id) ?? initialState);
  const change = (part: Partial<BrowserState>) => setState((now) => ({ ...now, ...part }));
  const list = useSampleList(toQuery(state.filters, state.sort), { source, run });
  const box = useRef<HTMLDivElement>(null);
  useSavedState(state, { run: run.id, box, isReady: list.pages !== undefined });
  const changeQuery = (part: Partial<BrowserState>) => {
    change({ ...part, active: 0 });
    box.current?.scrollTo({ top: 0 });
  };
  const showNew = () => {
    list.refresh();
    if (state.sort.sort === 'step' && state.sort.order === 'desc') changeQuery({});
  };
  const open = (position: number) => {
    const row = list.pages?.row(position);
    if (row !== undefined) change({ active: position, open: row });
  };
  const close = () => {
    change({ open: undefined });
    box.current?.focus();
  };
  return (
    <div class={`samples-browser${state.open === undefined ? '' : ' has-details'}`}>
      <div class="samples-list">
        <SampleFilterForm
          filters={state.filters}
          hasTools={run.results['tools/calls'] !== undefined}
          onChange={(filters) => changeQuery({ filters })}
        />
        <div class="samples-line">
          <ListStatus total={list.pages?.total} error={list.error} />
          <SampleMarks />
        </div>
        {list.added > 0 && (
          <button type="button" class="samples-new" onClick={showNew}>
            {list.added} new
          </button>
        )}
        {list.pages !== undefined && (
          <SampleGrid
            pages={list.pages}
            sort={state.sort}
            onSort={(sort) => changeQuery({ sort })}
            active={state.active}
            onActive={(active) => change({ active })}
            open={state.open?.index}
            onOpen={open}
            box={box}
          />
        )}
        {list.pages?.total === 0 && <p class="samples-none">No sample matches the filters.</p>}
      </div>
      {state.open !== undefined && (
        <SampleDetails
          source={source}
          run={run}
          row={state.open}
          onOpenTokens={onOpenTokens}
          onClose={close}
        />
      )}
    </div>
  );
}

function ListStatus({
  total,
  error,
}: {
  readonly total: number | undefined;
  readonly error: string | undefined;
}) {
  if (error !== undefined) return <p role="alert">{error}</p>;
  const text = total === undefined ? 'Loading…' : `${total} sample${total === 1 ? '' : 's'}`;
  return (
    <p class="samples-count" role="status">
      {text}
    </p>
  );
}

/** Saves the state of the list for as long as the page is open, and restores the scroll position. */
function useSavedState(
  state: BrowserState,
  {
    run,
    box,
    isReady,
  }: {
    readonly run: string;
    readonly box: { readonly current: HTMLDivElement | null };
    readonly isReady: boolean;
  },
): void {
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => {
    const element = box.current;
    if (!isReady || element === null) return undefined;
    element.scrollTop = state.scrollTop;
    return () => {
      savedStates.set(run, { ...latest.current, scrollTop: element.scrollTop });
    };
  }, [isReady]);
}

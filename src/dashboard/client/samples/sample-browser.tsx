import { useEffect, useRef, useState } from 'preact/hooks';
import type { DashboardSource, RunSummary, SampleRow } from '../../api.ts';
import { SampleDetails } from './sample-details.tsx';
import { SampleFilterForm } from './sample-filters.tsx';
import { SampleGrid } from './sample-grid.tsx';
import {
  newestFirst,
  noFilters,
  queryOf,
  type SampleFilters,
  type SampleSort,
} from './sample-query.ts';
import { useSampleList } from './use-sample-list.ts';

/** What is looked at, so that who comes back from a sample's tokens finds it again. */
interface BrowserPlace {
  readonly filters: SampleFilters;
  readonly sort: SampleSort;
  readonly active: number;
  readonly scrollTop: number;
  readonly open: SampleRow | undefined;
}

const start: BrowserPlace = {
  filters: noFilters,
  sort: newestFirst,
  active: 0,
  scrollTop: 0,
  open: undefined,
};

const places = new Map<string, BrowserPlace>();

/** The list of samples with its filters, and the details of one. */
export function SampleBrowser({
  source,
  run,
  onOpenTokens,
}: {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  readonly onOpenTokens: (index: number) => void;
}) {
  const [place, setPlace] = useState(places.get(run.id) ?? start);
  const change = (part: Partial<BrowserPlace>) => setPlace((now) => ({ ...now, ...part }));
  const list = useSampleList(queryOf(place.filters, place.sort), { source, run });
  const box = useRef<HTMLDivElement>(null);
  useRememberedPlace(place, { run: run.id, box, isReady: list.pages !== undefined });
  const toTop = () => box.current?.scrollTo({ top: 0 });
  const look = (part: Partial<BrowserPlace>) => {
    change({ ...part, active: 0 });
    toTop();
  };
  const showNew = () => {
    list.refresh();
    if (place.sort.sort === 'step' && place.sort.order === 'desc') look({});
  };
  const open = (at: number) => {
    const row = list.pages?.row(at);
    if (row !== undefined) change({ active: at, open: row });
  };
  const close = () => {
    change({ open: undefined });
    box.current?.focus();
  };
  return (
    <div class={`samples-browser${place.open === undefined ? '' : ' has-details'}`}>
      <div class="samples-list">
        <SampleFilterForm filters={place.filters} onChange={(filters) => look({ filters })} />
        <ListStatus total={list.pages?.total} error={list.error} />
        {list.added > 0 && (
          <button type="button" class="samples-new" onClick={showNew}>
            {list.added} new
          </button>
        )}
        {list.pages !== undefined && (
          <SampleGrid
            pages={list.pages}
            sort={place.sort}
            onSort={(sort) => look({ sort })}
            active={place.active}
            onActive={(active) => change({ active })}
            open={place.open?.index}
            onOpen={open}
            box={box}
          />
        )}
      </div>
      {place.open !== undefined && (
        <SampleDetails
          source={source}
          run={run}
          row={place.open}
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

/** Keeps the place for as long as the page is open, and scrolls back to it. */
function useRememberedPlace(
  place: BrowserPlace,
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
  const latest = useRef(place);
  latest.current = place;
  useEffect(() => {
    const element = box.current;
    if (!isReady || element === null) return undefined;
    element.scrollTop = place.scrollTop;
    return () => {
      places.set(run, { ...latest.current, scrollTop: element.scrollTop });
    };
  }, [isReady]);
}

import './app.css';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DashboardState } from '../dashboard-state.ts';
import { LabelPage } from '../label/label-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { SamplesPage } from '../samples/samples-page.tsx';
import { TokenPage } from '../tokens/token-page.tsx';
import { KeyboardHelp } from './dialogs.tsx';
import { Header } from './header.tsx';
import { useShortcuts } from './hooks.ts';
import { formatRoute, type Route } from './route.ts';

const titles: Readonly<Record<Route['page'], string>> = {
  ...{ overview: 'Overview', samples: 'Samples', tokens: 'Tokens', label: 'Label' },
  unknown: 'No such page',
};

/** The whole page. */
export function App({ state }: { state: DashboardState }) {
  const [isHelping, setHelping] = useState(false);
  const main = useRef<HTMLElement>(null);
  useShortcuts(useMemo(() => shortcuts(state, () => setHelping(true)), [state]));
  const { page } = state.route.value;
  const name = state.runName.value;
  useEffect(() => {
    document.title = page === 'label' || name === undefined ? 'Proximal' : `${name} · Proximal`;
  }, [page, name]);
  return (
    <>
      <button type="button" class="skip-link" onClick={() => main.current!.focus()}>
        Skip to the content
      </button>
      <Header state={state} onHelp={() => setHelping(true)} />
      <main ref={main} tabIndex={-1} aria-label={titles[page]}>
        <Page state={state} main={main} />
      </main>
      {isHelping && <KeyboardHelp onClose={() => setHelping(false)} />}
    </>
  );
}

function shortcuts(state: DashboardState, onHelp: () => void): Record<string, () => void> {
  const go = (hash: string) => {
    location.hash = hash;
  };
  return {
    '?': onHelp,
    'g o': () => go(state.overviewOf(state.runId.peek())),
    'g s': () => {
      const run = state.runId.peek();
      if (run !== undefined) go(formatRoute({ page: 'samples', run }));
    },
    'g l': () => {
      if (state.source.live !== undefined) go('#/label');
    },
  };
}

interface PageProps {
  readonly state: DashboardState;
  /** What holds the page. */
  readonly main: RefObject<HTMLElement | null>;
}

/** The page of the present address. */
export function Page({ state, main }: PageProps) {
  const route = state.route.value;
  useArrival(main, route.page);
  if (state.isReading.value) return <Waiting error={state.error.value} />;
  if (route.page === 'unknown') return <Message>There is no such page. Choose one above.</Message>;
  if (route.page === 'label') return <Labels state={state} />;
  if (state.names.value.length === 0) {
    return <Message>No runs yet. Start one with “proximal train”, and it appears here.</Message>;
  }
  if (route.page === 'overview') return <OverviewPage state={state} />;
  return <SamplesOf route={route} state={state} />;
}

/** Shows the top of another page and puts the focus there: what had it is gone, or leads here. A page
 *  that has put it into a field of its own keeps it. */
function useArrival(main: RefObject<HTMLElement | null>, page: string): void {
  const last = useRef(page);
  useLayoutEffect(() => {
    if (last.current === page) return;
    last.current = page;
    scrollTo(0, 0);
    if (!main.current!.contains(document.activeElement)) main.current!.focus();
  }, [main, page]);
}

function Labels({ state }: { state: DashboardState }) {
  return (
    <div class="padded">
      <h1 class="visually-hidden">Label</h1>
      <LabelPage source={state.source} runs={state.runs.value ?? []} />
    </div>
  );
}

interface SamplesOfProps {
  readonly route: Extract<Route, { page: 'samples' | 'tokens' }>;
  readonly state: DashboardState;
}

/** A run's samples, or the tokens of one; another run begins anew. */
function SamplesOf({ route, state }: SamplesOfProps) {
  const run = state.run.value;
  if (run === undefined) return <Message>This run is not there. Choose another one above.</Message>;
  const { source } = state;
  const open = (index: number) => {
    location.hash = formatRoute({ page: 'tokens', run: run.id, index });
  };
  if (route.page === 'samples') {
    return <SamplesPage key={run.id} source={source} run={run} onOpenTokens={open} />;
  }
  return <TokenPage key={run.id} source={source} run={run} index={route.index} onOpen={open} />;
}

function Waiting({ error }: { error: string | undefined }) {
  if (error === undefined) return <Message>Reading the runs…</Message>;
  return (
    <p class="message failed" role="alert">
      {error}
    </p>
  );
}

function Message({ children }: { children: preact.ComponentChildren }) {
  return (
    <div class="message">
      <h1 class="visually-hidden">Proximal</h1>
      <p>{children}</p>
    </div>
  );
}

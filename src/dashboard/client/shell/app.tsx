import './app.css';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { commandLine } from '../command-line.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { LabelPage } from '../label/label-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { RunsPage } from '../runs/runs-page.tsx';
import { SamplesPage } from '../samples/samples-page.tsx';
import { TokenPage } from '../tokens/token-page.tsx';
import { KeyboardHelp } from './dialogs.tsx';
import { Header } from './header.tsx';
import { useShortcuts } from './hooks.ts';
import { formatRoute, type Route } from './route.ts';

const titles: Readonly<Record<Route['page'], string>> = {
  ...{ overview: 'Overview', runs: 'Runs', samples: 'Samples', tokens: 'Tokens', label: 'Label' },
  unknown: 'Unknown page',
};

/** The whole page. */
export function App({ state }: { state: DashboardState }) {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useShortcuts(useMemo(() => shortcuts(state, () => setHelpOpen(true)), [state]));
  const { page } = state.route.value;
  const name = state.runName.value;
  useEffect(() => {
    document.title =
      page === 'label' || page === 'runs' || name === undefined ? 'Proximal' : `${name} · Proximal`;
  }, [page, name]);
  return (
    <>
      <button type="button" class="skip-link" onClick={() => main.current!.focus()}>
        Skip to content
      </button>
      <Header state={state} onHelp={() => setHelpOpen(true)} />
      <main ref={main} tabIndex={-1} aria-label={titles[page]}>
        <Page state={state} main={main} />
      </main>
      {isHelpOpen && <KeyboardHelp onClose={() => setHelpOpen(false)} />}
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
    'g r': () => {
      if (state.source.live !== undefined) go('#/runs');
    },
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
  /** The element that contains the page. */
  readonly main: RefObject<HTMLElement | null>;
}

/** The page of the current URL. */
function Page({ state, main }: PageProps) {
  const route = state.route.value;
  useFocusOnNavigation(main, route.page);
  if (state.isLoading.value) return <Loading error={state.error.value} />;
  if (route.page === 'unknown')
    return <Message>This page does not exist. Select one above.</Message>;
  if (route.page === 'label') return <Labels state={state} />;
  if (state.names.value.length === 0) {
    return (
      <Message>
        There are no runs yet. Start one with <code>{commandLine('train')}</code>, or try{' '}
        <code>{commandLine('demo')}</code>: it appears here automatically.
      </Message>
    );
  }
  if (route.page === 'overview') return <OverviewPage state={state} />;
  if (route.page === 'runs') return <RunsPage state={state} />;
  return <RunPage route={route} state={state} />;
}

/** Scrolls to the top and moves the focus to the content when the page changes, unless the new page
 *  has already focused one of its fields. */
function useFocusOnNavigation(main: RefObject<HTMLElement | null>, page: string): void {
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

interface RunPageProps {
  readonly route: Extract<Route, { page: 'samples' | 'tokens' }>;
  readonly state: DashboardState;
}

/** The samples of a run or the tokens of one sample; their state is reset if the run changes. */
function RunPage({ route, state }: RunPageProps) {
  const run = state.run.value;
  if (run === undefined)
    return <Message>This run does not exist. Select another one above.</Message>;
  const { source } = state;
  const open = (index: number) => {
    location.hash = formatRoute({ page: 'tokens', run: run.id, index });
  };
  if (route.page === 'samples') {
    return <SamplesPage key={run.id} source={source} run={run} onOpenTokens={open} />;
  }
  return <TokenPage key={run.id} source={source} run={run} index={route.index} onOpen={open} />;
}

function Loading({ error }: { error: string | undefined }) {
  if (error === undefined) return <Message>Loading runs…</Message>;
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

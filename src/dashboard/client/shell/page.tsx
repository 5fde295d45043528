import type { RunSummary } from '../../api.ts';
import type { DashboardState } from '../dashboard-state.ts';
import { LabelPage } from '../label/label-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { SamplesPage } from '../samples/samples-page.tsx';
import { TokenPage } from '../tokens/token-page.tsx';
import { formatRoute, type Route } from './route.ts';

/** The page of the present address. */
export function Page({ state }: { state: DashboardState }) {
  const runs = state.runs.value;
  const route = state.route.value;
  if (runs === undefined) return <Waiting error={state.error.value} />;
  if (route.page === 'unknown') return <Message>There is no such page. Choose one above.</Message>;
  if (route.page === 'label') {
    return (
      <div class="padded">
        <h1 class="visually-hidden">Label</h1>
        <LabelPage source={state.source} runs={runs} />
      </div>
    );
  }
  if (runs.length === 0) {
    return <Message>No runs yet. Start one with “proximal train”, and it appears here.</Message>;
  }
  if (route.page === 'overview') return <OverviewPage state={state} />;
  const run = state.run.value;
  if (run === undefined) return <Message>This run is not there. Choose another one above.</Message>;
  return <SamplesOf run={run} route={route} state={state} />;
}

interface SamplesOfProps {
  readonly run: RunSummary;
  readonly route: Extract<Route, { page: 'samples' | 'tokens' }>;
  readonly state: DashboardState;
}

/** A run's samples, or the tokens of one; another run begins anew. */
function SamplesOf({ run, route, state: { source } }: SamplesOfProps) {
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

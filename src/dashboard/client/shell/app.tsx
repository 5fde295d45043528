import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DashboardState } from '../dashboard-state.ts';
import { Header } from './header.tsx';
import { useShortcuts } from './hooks.ts';
import { KeyboardHelp } from './keyboard-help.tsx';
import { Page } from './page.tsx';
import { formatRoute, type Route } from './route.ts';
import './app.css';

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

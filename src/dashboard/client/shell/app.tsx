import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DashboardState } from '../dashboard-state.ts';
import { Header } from './header.tsx';
import { KeyboardHelp } from './keyboard-help.tsx';
import { Page } from './page.tsx';
import { formatRoute } from './route.ts';
import { useShortcuts } from './shortcuts.ts';
import './app.css';

/** The whole page. */
export function App({ state }: { state: DashboardState }) {
  const [isHelping, setHelping] = useState(false);
  const main = useRef<HTMLElement>(null);
  useShortcuts(useMemo(() => shortcuts(state, () => setHelping(true)), [state]));
  const { page } = state.route.value;
  const name = state.run.value?.name;
  useEffect(() => {
    document.title = page === 'label' || name === undefined ? 'Proximal' : `${name} · Proximal`;
  }, [page, name]);
  useEffect(() => scrollTo(0, 0), [page]);
  return (
    <>
      <button type="button" class="skip-link" onClick={() => main.current!.focus()}>
        Skip to the content
      </button>
      <Header state={state} onHelp={() => setHelping(true)} />
      <main ref={main} tabIndex={-1}>
        <Page state={state} />
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
    'g o': () => go(formatRoute({ page: 'overview', run: state.run.peek()?.id })),
    'g s': () => {
      const run = state.run.peek()?.id;
      if (run !== undefined) go(formatRoute({ page: 'samples', run }));
    },
    'g l': () => {
      if (state.source.live !== undefined) go('#/label');
    },
  };
}

import './app.css';
import { useRef } from 'preact/hooks';
import { ChartGrid } from '../dashboard/client/charts/chart-grid.tsx';
import { Brand, ThemeButton } from '../dashboard/client/shell/header.tsx';
import { TokenPage } from '../dashboard/client/tokens/token-page.tsx';
import { Controls } from './controls.tsx';
import { Introduction } from './introduction.tsx';
import { PairCard } from './pair-card.tsx';
import type { PlaygroundState } from './playground-state.ts';
import { SampleTable } from './sample-table.tsx';

/** The whole page. */
export function App({ state }: { state: PlaygroundState }) {
  const main = useRef<HTMLElement>(null);
  return (
    <>
      <button type="button" class="skip-link" onClick={() => main.current!.focus()}>
        Skip to content
      </button>
      <header class="header">
        <Brand href="./" />
        <span class="playground-title">Playground</span>
        <div class="header-tools">
          <ModelState state={state} />
          <ThemeButton />
        </div>
      </header>
      <div class="playground">
        <aside class="playground-side" aria-label="Settings">
          <h1 class="visually-hidden">Train a language model in this tab</h1>
          <Controls state={state} />
        </aside>
        <main ref={main} tabIndex={-1} class="playground-main" aria-label="Run">
          <Content state={state} />
        </main>
      </div>
    </>
  );
}

/** Size of the model and how it runs. */
function ModelState({ state }: { state: PlaygroundState }) {
  const model = state.model.value;
  if (model === undefined) return null;
  const size = `${(model.parameters / 1e6).toFixed(1)} M parameters`;
  const threads = model.threads === 1 ? '1 thread' : `${model.threads} threads`;
  return (
    <span class="playground-model" title="How the model runs in this tab">
      {size} · WebAssembly, {threads}
    </span>
  );
}

function Content({ state }: { state: PlaygroundState }) {
  const run = state.run.value;
  const sample = state.openSample.value;
  const open = (index: number | undefined) => {
    state.openSample.value = index;
  };
  const question = state.pairs.question.value;
  if (sample !== undefined) {
    return (
      <>
        <button type="button" class="playground-back" onClick={() => open(undefined)}>
          ← Back to the run
        </button>
        <TokenPage source={run.source} run={run.summary.value} index={sample} onOpen={open} />
      </>
    );
  }
  return (
    <div class="playground-content">
      {question !== undefined && <PairCard question={question} pairs={state.pairs} />}
      {run.step.value === 0 ? (
        question === undefined && <Introduction state={state} />
      ) : (
        <>
          <ChartGrid
            runs={[{ name: 'This tab', colour: 0, series: run.series.value }]}
            view={state.view}
          />
          <SampleTable samples={run.samples.value} onOpen={open} />
        </>
      )}
    </div>
  );
}

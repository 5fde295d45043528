import { useState } from 'preact/hooks';
import type { DashboardSource, RunSummary } from '../../api.ts';
import { EvaluationTab } from './evaluation-tab.tsx';
import { SampleBrowser } from './sample-browser.tsx';
import './samples.css';

const tabs = ['samples', 'evaluation'] as const;
type Tab = (typeof tabs)[number];

const titles: Readonly<Record<Tab, string>> = { samples: 'Samples', evaluation: 'Evaluation' };

/** What the policy wrote: the samples of training, and evaluations beside the reference. */
export function SamplesPage({
  source,
  run,
  onOpenTokens,
}: {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  readonly onOpenTokens: (index: number) => void;
}) {
  const [tab, setTab] = useState<Tab>('samples');
  return (
    <div class="samples-page">
      <h1 class="visually-hidden">Samples of {run.name}</h1>
      <TabList tab={tab} onChoose={setTab} />
      <div
        class="samples-panel"
        role="tabpanel"
        id="samples-panel"
        aria-labelledby={`samples-tab-${tab}`}
      >
        {tab === 'samples' ? (
          <SampleBrowser key={run.id} source={source} run={run} onOpenTokens={onOpenTokens} />
        ) : (
          <EvaluationTab key={run.id} source={source} run={run} />
        )}
      </div>
    </div>
  );
}

function TabList({ tab, onChoose }: { readonly tab: Tab; readonly onChoose: (tab: Tab) => void }) {
  const move = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const other = tab === 'samples' ? 'evaluation' : 'samples';
    onChoose(other);
    document.getElementById(`samples-tab-${other}`)?.focus();
  };
  return (
    <div class="samples-tabs" role="tablist" aria-label="Texts of this run" onKeyDown={move}>
      {tabs.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`samples-tab-${name}`}
          aria-selected={name === tab}
          aria-controls="samples-panel"
          tabIndex={name === tab ? 0 : -1}
          onClick={() => onChoose(name)}
        >
          {titles[name]}
        </button>
      ))}
    </div>
  );
}

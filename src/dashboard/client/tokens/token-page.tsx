import { useMemo, useState } from 'preact/hooks';
import type { DashboardSource, RunSummary } from '../../api.ts';
import { formatNumber } from '../samples/format-number.ts';
import { TokenAlternatives } from './token-alternatives.tsx';
import { TokenArithmetic } from './token-arithmetic.tsx';
import { TokenFields } from './token-fields.tsx';
import { TokenList } from './token-list.tsx';
import type { TokenMetricName } from './token-metrics.ts';
import { TokenPrompt } from './token-prompt.tsx';
import { TokenStrips } from './token-strips.tsx';
import { stopIdOf } from './token-text.ts';
import { SampleSteps, TokenToolbar } from './token-toolbar.tsx';
import { useChoice } from './use-choice.ts';
import { useLatestShortcuts } from './use-latest-shortcuts.ts';
import { type TokenSample, useNeighbours, useTokenSample } from './use-token-sample.ts';
import './tokens.css';

interface TokenPageProps {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  /** Of the sample. */
  readonly index: number;
  readonly onOpen: (index: number) => void;
}

/** One response token by token: what each was worth, and why. */
export function TokenPage({ source, run, index, onOpen }: TokenPageProps) {
  const sample = useTokenSample(index, { source, run });
  const { row: found, previous, next } = useNeighbours(index, { source, run });
  const [metric, setMetric] = useState<TokenMetricName>('advantage');
  const open = (target: number | undefined) => target !== undefined && onOpen(target);
  useLatestShortcuts({ p: () => open(previous), n: () => open(next) });
  const { value } = sample;
  // Until the tokens of this sample have come, those of the one before are shown.
  const row = value?.index === index ? found : undefined;
  return (
    <div class="tokens-page" aria-busy={sample.busy}>
      <header class="tokens-head">
        <h1>Tokens of sample {index}</h1>
        {value !== undefined && (
          <span class="tokens-muted">
            step {value.columns.step} · prompt {value.columns.promptIdx} ·{' '}
            {value.columns.ids.length} tokens
            {row !== undefined &&
              ` · score ${formatNumber(row.score)} · ${row.finished ? 'stopped' : 'cut off'}`}
          </span>
        )}
        <SampleSteps previous={previous} next={next} onOpen={onOpen} />
      </header>
      {sample.error !== undefined && <p role="alert">{sample.error}</p>}
      {sample.busy && value === undefined && <p class="tokens-muted">Loading…</p>}
      {value !== undefined && value.columns.ids.length > 0 && (
        <TokenBody sample={{ ...value, row }} metric={metric} onMetric={setMetric} />
      )}
      {value?.columns.ids.length === 0 && <p>This response has no tokens.</p>}
    </div>
  );
}

function TokenBody({
  sample,
  metric,
  onMetric,
}: {
  readonly sample: TokenSample;
  readonly metric: TokenMetricName;
  readonly onMetric: (metric: TokenMetricName) => void;
}) {
  const { columns, config, row, index } = sample;
  const { chosen, shown, choose, press, setHovered } = useChoice(index, columns.ids.length);
  useLatestShortcuts({
    ArrowLeft: () => press('ArrowLeft'),
    ArrowRight: () => press('ArrowRight'),
  });
  const input = useMemo(() => ({ columns, config, row }), [columns, config, row]);
  const stopId = stopIdOf(columns, row?.finished ?? true);
  return (
    <div class="tokens-body">
      <div class="tokens-main">
        <TokenPrompt prompt={columns.prompt} />
        <TokenToolbar {...{ metric, onMetric, columns, shown }} />
        <TokenList
          {...{ columns, stopId, metric, shown, chosen }}
          onChoose={choose}
          onKey={press}
          onHover={setHovered}
        />
        <section class="tokens-section">
          <h2>Along the response</h2>
          <TokenStrips {...{ columns, shown }} onChoose={choose} onKey={press} />
        </section>
      </div>
      <aside class="tokens-side" aria-label="The token that is looked at">
        <h2>
          Token {shown + 1} of {columns.ids.length}
        </h2>
        <TokenFields {...{ columns, stopId }} t={shown} />
        <h2>Alternatives</h2>
        <TokenAlternatives {...{ columns, stopId }} t={shown} />
      </aside>
      <section class="tokens-section tokens-arithmetic">
        <h2>Arithmetic of token {shown + 1}</h2>
        <TokenArithmetic input={input} t={shown} />
      </section>
    </div>
  );
}

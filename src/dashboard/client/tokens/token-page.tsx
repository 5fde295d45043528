import { ppoDefaults } from 'virtual:ppo-defaults';
import { useMemo, useState } from 'preact/hooks';
import type { DashboardSource, RunSummary } from '../../api.ts';
import { formatNumber, oneLine } from '../format.ts';
import { TextBlock } from '../samples/text-block.tsx';
import { useLatestShortcuts, useLoaded } from '../shell/hooks.ts';
import { type ArithmeticInput, readArithmeticConfig } from './arithmetic.ts';
import { TokenArithmetic } from './token-arithmetic.tsx';
import type { TokenMetricName } from './token-colors.tsx';
import { TokenAlternatives, TokenFields } from './token-details.tsx';
import { TokenList } from './token-list.tsx';
import { useNeighbours, useTokenSelection } from './token-navigation.ts';
import { TokenStrips } from './token-strips.tsx';
import { findStopId } from './token-text.tsx';
import { NeighbourButtons, TokenToolbar } from './token-toolbar.tsx';
import './tokens.css';

interface TokenPageProps {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  /** Index of the sample. */
  readonly index: number;
  readonly onOpen: (index: number) => void;
}

/** One response token by token, with the numbers of each and how they are computed. */
export function TokenPage({ source, run, index, onOpen }: TokenPageProps) {
  const loaded = useTokenSample(index, { source, run });
  const neighbours = useNeighbours(index, { source, run });
  const { previous, next } = neighbours;
  const [metric, setMetric] = useState<TokenMetricName>('advantage');
  const open = (target: number | undefined) => target !== undefined && onOpen(target);
  useLatestShortcuts({ p: () => open(previous), n: () => open(next) });
  const { value } = loaded;
  // Until this sample's tokens are loaded, those of the previous sample are shown.
  const row = value?.index === index ? neighbours.row : undefined;
  return (
    <div class="tokens-page" aria-busy={loaded.busy}>
      <header class="tokens-head">
        <h1>Tokens of sample {index}</h1>
        {value !== undefined && (
          <span class="tokens-muted">
            step {value.columns.step} · prompt {value.columns.promptIdx} ·{' '}
            {value.columns.ids.length} tokens
            {row !== undefined &&
              ` · score ${formatNumber(row.score)} · ${row.finished ? 'finished' : 'truncated'}`}
          </span>
        )}
        <NeighbourButtons previous={previous} next={next} onOpen={onOpen} />
      </header>
      {loaded.error !== undefined && <p role="alert">{loaded.error}</p>}
      {loaded.busy && value === undefined && <p class="tokens-muted">Loading…</p>}
      {value !== undefined && value.columns.ids.length > 0 && (
        <TokenBody sample={{ ...value, row }} metric={metric} onMetric={setMetric} />
      )}
      {value?.columns.ids.length === 0 && <p>This response has no tokens.</p>}
    </div>
  );
}

/** Loads the tokens of a sample with the settings of its run. */
function useTokenSample(index: number, { source, run }: Pick<TokenPageProps, 'source' | 'run'>) {
  return useLoaded(`${run.id} ${index}`, async () => {
    const [columns, config] = await Promise.all([
      source.tokens(run.id, index),
      source.config(run.id),
    ]);
    return { index, columns, config: readArithmeticConfig(config, ppoDefaults) };
  });
}

interface TokenBodyProps {
  readonly sample: ArithmeticInput & { readonly index: number };
  readonly metric: TokenMetricName;
  readonly onMetric: (metric: TokenMetricName) => void;
}

function TokenBody({ sample, metric, onMetric }: TokenBodyProps) {
  const { columns, config, row, index } = sample;
  const { selected, shown, select, pressKey, setHovered } = useTokenSelection(
    index,
    columns.ids.length,
  );
  useLatestShortcuts({
    ArrowLeft: () => pressKey('ArrowLeft'),
    ArrowRight: () => pressKey('ArrowRight'),
  });
  const input = useMemo(() => ({ columns, config, row }), [columns, config, row]);
  const stopId = findStopId(columns, row?.finished ?? true);
  return (
    <div class="tokens-body">
      <div class="tokens-main">
        <TokenPrompt prompt={columns.prompt} />
        <TokenToolbar {...{ metric, onMetric, columns, shown }} />
        <TokenList
          {...{ columns, stopId, metric, shown, selected }}
          onSelect={select}
          onKey={pressKey}
          onHover={setHovered}
        />
        <section class="tokens-section">
          <h2>Along the response</h2>
          <TokenStrips {...{ columns, shown }} onSelect={select} onKey={pressKey} />
          <p class="tokens-marks tokens-muted">
            <span>blue bars: above 0</span>
            <span>orange bars: below 0</span>
            <span>dashed line: 0</span>
            <span>grey: the selected token</span>
          </p>
        </section>
      </div>
      <aside class="tokens-side" aria-label="Selected token">
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

/** Longest prompt that is shown unfolded, in characters. */
const SHORT_PROMPT = 240;

/** The prompt; a long one is folded, and its end is shown in the summary. */
function TokenPrompt({ prompt }: { readonly prompt: string }) {
  const isLong = prompt.length > SHORT_PROMPT;
  return (
    <details class="tokens-prompt" open={!isLong}>
      <summary>
        Prompt
        {isLong && <span class="tokens-muted"> …{oneLine(prompt.slice(-80), 80)}</span>}
      </summary>
      <TextBlock label="Prompt" text={prompt} />
    </details>
  );
}

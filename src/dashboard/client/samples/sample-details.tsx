import './sample-details.css';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { DashboardSource, RunSummary, SampleRow } from '../../api.ts';
import { formatFixed } from '../format.ts';
import { useLoaded } from '../shell/hooks.ts';
import { Conversation } from './conversation.tsx';
import { describeEnd, sourcesOf } from './sample-grid-row.tsx';
import { PAGE_SIZE } from './sample-list.ts';
import { ScorePlot } from './score-plot.tsx';
import { DiffText, TextBlock } from './text-block.tsx';

/** One sample in full, with buttons for its tokens and the history of its prompt. */
export function SampleDetails({
  source,
  run,
  row,
  onOpenTokens,
  onClose,
}: {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  readonly row: SampleRow;
  readonly onOpenTokens: (index: number) => void;
  readonly onClose: () => void;
}) {
  const [showsHistory, setShowsHistory] = useState(false);
  const title = useRef<HTMLHeadingElement>(null);
  const responses = useResponseCount(row, { source, run });
  useLayoutEffect(() => title.current?.focus(), [row.index]);
  return (
    <section
      class="samples-details"
      aria-labelledby="samples-details-title"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header class="samples-details-head">
        <h2 id="samples-details-title" ref={title} tabIndex={-1}>
          Step {row.step}, prompt {row.promptIdx}
          {row.sample > 0 && `, response ${row.sample}`}
        </h2>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </header>
      <dl class="samples-facts">
        <Fact name="Score" value={formatFixed(row.score, 4)} />
        {sourcesOf(row).map((name) => (
          <Fact
            key={name}
            name={`${name}, unweighted`}
            value={formatFixed(row.sourceScores?.[name], 4)}
          />
        ))}
        <Fact name="KL" value={formatFixed(row.kl, 4)} />
        <Fact name="Length" value={`${row.length} tokens`} />
        <Fact name="End" value={describeEnd(row)} />
      </dl>
      <div class="samples-actions">
        {row.hasTokens && (
          <button type="button" class="samples-primary" onClick={() => onOpenTokens(row.index)}>
            Tokens
          </button>
        )}
        {responses > 1 ? (
          <button
            type="button"
            aria-pressed={showsHistory}
            onClick={() => setShowsHistory(!showsHistory)}
          >
            Follow this prompt ({responses} responses)
          </button>
        ) : (
          responses === 1 && <span class="samples-muted">The only response to this prompt.</span>
        )}
      </div>
      <h3>Prompt</h3>
      <TextBlock label="Prompt" text={row.prompt} />
      {showsHistory && responses > 1 ? (
        <PromptHistory key={row.promptIdx} source={source} run={run} promptIdx={row.promptIdx} />
      ) : (
        <>
          <h3>{row.turns === null ? 'Response' : 'Conversation'}</h3>
          {row.turns === null ? (
            <TextBlock label="Response" text={row.response} />
          ) : (
            <Conversation turns={row.turns} />
          )}
        </>
      )}
    </section>
  );
}

/** Number of responses to the prompt of a sample; 0 until it is known. */
function useResponseCount(
  { promptIdx }: SampleRow,
  { source, run }: { readonly source: DashboardSource; readonly run: RunSummary },
): number {
  const key = `${run.id} ${promptIdx} ${run.counts.samples}`;
  const { value } = useLoaded(key, async () => {
    const { total } = await source.samples(run.id, { promptIdx, limit: 1 });
    return { promptIdx, total };
  });
  return value?.promptIdx === promptIdx ? value.total : 0;
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface PromptHistoryProps {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  readonly promptIdx: number;
}

/** All responses to one prompt in order of steps, each with its changes from the one before. */
function PromptHistory({ source, run, promptIdx }: PromptHistoryProps) {
  const [pages, setPages] = useState(1);
  const { value, error } = useLoaded(`${run.id} ${promptIdx} ${pages} ${run.counts.samples}`, () =>
    loadHistory(source, { run: run.id, promptIdx, pages }),
  );
  if (error !== undefined) return <p role="alert">{error}</p>;
  if (value === undefined) return <p class="samples-muted">Loading…</p>;
  const { rows, total } = value;
  return (
    <section class="samples-follow" aria-label="Responses to this prompt by step">
      <p class="samples-muted">
        {total === 1 ? 'One response' : `${total} responses`} to this prompt. <ins>Underlined</ins>{' '}
        words are new, <del>struck out</del> words are gone.
      </p>
      <ScorePlot points={rows} />
      <ol>
        {rows.map((row, i) => (
          <HistoryEntry key={row.index} row={row} before={previousResponse(rows, i)} />
        ))}
      </ol>
      {rows.length < total && (
        <button type="button" onClick={() => setPages(pages + 1)}>
          Show more of {total}
        </button>
      )}
    </section>
  );
}

function HistoryEntry({
  row,
  before,
}: {
  readonly row: SampleRow;
  readonly before: SampleRow | undefined;
}) {
  const label = `Response at step ${row.step}`;
  return (
    <li>
      <p class="samples-answer-head">
        <strong>Step {row.step}</strong> score {formatFixed(row.score, 4)} · KL{' '}
        {formatFixed(row.kl, 4)} · {row.length} tokens, {describeEnd(row)}
      </p>
      {before === undefined && <TextBlock label={label} text={row.response} />}
      {before?.response === row.response && (
        <p class="samples-muted">Unchanged since step {before.step}.</p>
      )}
      {before !== undefined && before.response !== row.response && (
        <DiffText label={label} before={before.response} after={row.response} />
      )}
    </li>
  );
}

/** The previous response with the same sample number. */
function previousResponse(rows: readonly SampleRow[], i: number): SampleRow | undefined {
  const { sample } = rows[i]!;
  return rows.slice(0, i).findLast((row) => row.sample === sample);
}

async function loadHistory(
  source: DashboardSource,
  {
    run,
    promptIdx,
    pages,
  }: { readonly run: string; readonly promptIdx: number; readonly pages: number },
): Promise<{ readonly rows: readonly SampleRow[]; readonly total: number }> {
  const load = (page: number) =>
    source.samples(run, {
      promptIdx,
      sort: 'step',
      order: 'asc',
      offset: page * PAGE_SIZE,
      limit: PAGE_SIZE,
    });
  const loaded = await Promise.all(Array.from({ length: pages }, (_, page) => load(page)));
  return { rows: loaded.flatMap(({ rows }) => rows), total: loaded[0]!.total };
}

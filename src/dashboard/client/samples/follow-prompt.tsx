import { useState } from 'preact/hooks';
import type { DashboardSource, RunSummary, SampleRow } from '../../api.ts';
import { DiffText } from './diff-text.tsx';
import { formatNumber } from './format-number.ts';
import { PAGE_SIZE } from './row-pages.ts';
import { endWord } from './sample-grid-row.tsx';
import { ScorePlot } from './score-plot.tsx';
import { TextBlock } from './text-block.tsx';
import { useLoaded } from './use-loaded.ts';

interface FollowPromptProps {
  readonly source: DashboardSource;
  readonly run: RunSummary;
  readonly promptIdx: number;
}

/** Every answer to one prompt in order of steps, each beside what it was before. */
export function FollowPrompt({ source, run, promptIdx }: FollowPromptProps) {
  const [pages, setPages] = useState(1);
  const { value, error } = useLoaded(`${run.id} ${promptIdx} ${pages} ${run.counts.samples}`, () =>
    loadAnswers(source, { run: run.id, promptIdx, pages }),
  );
  if (error !== undefined) return <p role="alert">{error}</p>;
  if (value === undefined) return <p class="samples-muted">Loading…</p>;
  const { rows, total } = value;
  return (
    <section class="samples-follow" aria-label="Answers to this prompt by step">
      <p class="samples-muted">
        {total === 1 ? 'One answer' : `${total} answers`} to this prompt. <ins>Underlined</ins> is
        new, <del>struck out</del> is gone.
      </p>
      <ScorePlot points={rows} />
      <ol>
        {rows.map((row, i) => (
          <Answer key={row.index} row={row} before={previousOf(rows, i)} />
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

function Answer({
  row,
  before,
}: {
  readonly row: SampleRow;
  readonly before: SampleRow | undefined;
}) {
  const label = `Answer at step ${row.step}`;
  return (
    <li>
      <p class="samples-answer-head">
        <strong>Step {row.step}</strong> score {formatNumber(row.score)} · KL {formatNumber(row.kl)}{' '}
        · {row.length} tokens, {endWord(row)}
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

/** The answer before: of several in a step, that with the same number. */
function previousOf(rows: readonly SampleRow[], i: number): SampleRow | undefined {
  const { sample } = rows[i]!;
  return rows.slice(0, i).findLast((row) => row.sample === sample);
}

async function loadAnswers(
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

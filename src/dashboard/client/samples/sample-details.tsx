import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { DashboardSource, RunSummary, SampleRow } from '../../api.ts';
import { FollowPrompt } from './follow-prompt.tsx';
import { formatNumber } from './format-number.ts';
import { endWord } from './sample-grid-row.tsx';
import { TextBlock } from './text-block.tsx';

/** One sample in full, and from there its tokens and the history of its prompt. */
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
  const [isFollowing, setFollowing] = useState(false);
  const title = useRef<HTMLHeadingElement>(null);
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
        <Fact name="Score" value={formatNumber(row.score)} />
        <Fact name="KL" value={formatNumber(row.kl)} />
        <Fact name="Length" value={`${row.length} tokens`} />
        <Fact name="End" value={endWord(row)} />
      </dl>
      <div class="samples-actions">
        {row.hasTokens && (
          <button type="button" class="samples-primary" onClick={() => onOpenTokens(row.index)}>
            Tokens
          </button>
        )}
        <button type="button" aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
          Follow this prompt
        </button>
      </div>
      <h3>Prompt</h3>
      <TextBlock label="Prompt" text={row.prompt} />
      {isFollowing ? (
        <FollowPrompt key={row.promptIdx} source={source} run={run} promptIdx={row.promptIdx} />
      ) : (
        <>
          <h3>Response</h3>
          <TextBlock label="Response" text={row.response} />
        </>
      )}
    </section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

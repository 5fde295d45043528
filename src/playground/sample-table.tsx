import './sample-table.css';
import type { SampleRow } from '../dashboard/api.ts';
import { formatFixed, visibleText } from '../dashboard/client/format.ts';

/** Number of rows shown, the newest first. */
const ROWS = 16;

interface SampleTableProps {
  readonly samples: readonly SampleRow[];
  readonly onOpen: (index: number) => void;
}

/** The newest responses with their scores; each opens its tokens. */
export function SampleTable({ samples, onOpen }: SampleTableProps) {
  const newest = samples.slice(-ROWS).reverse();
  return (
    <section class="playground-card" aria-labelledby="samples">
      <h2 id="samples">Newest samples</h2>
      <div class="sample-table" role="table" aria-labelledby="samples">
        <div role="row" class="sample-head">
          <span role="columnheader">Step</span>
          <span role="columnheader">Score</span>
          <span role="columnheader">KL</span>
          <span role="columnheader">Response</span>
          <span role="columnheader">Tokens</span>
        </div>
        {newest.map((row) => (
          <div key={row.index} role="row" class="sample-row">
            <span role="cell">{row.step}</span>
            <span role="cell">{formatFixed(row.score, 2)}</span>
            <span role="cell">{formatFixed(row.kl, 2)}</span>
            <span role="cell" class="sample-text" dir="auto" title={row.prompt}>
              {row.response.trim() === '' ? <em>nothing</em> : visibleText(row.response.trim())}
            </span>
            <span role="cell">
              {row.hasTokens && (
                <button
                  type="button"
                  aria-label={`Tokens of sample ${row.index}, step ${row.step}`}
                  onClick={() => onOpen(row.index)}
                >
                  {row.length}
                </button>
              )}
            </span>
          </div>
        ))}
      </div>
    </section>
  );
}

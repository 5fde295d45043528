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
      <table class="sample-table">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Score</th>
            <th scope="col" class="sample-kl">
              KL
            </th>
            <th scope="col">Response</th>
            <th scope="col">Tokens</th>
          </tr>
        </thead>
        <tbody>
          {newest.map((row) => (
            <Row key={row.index} row={row} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ row, onOpen }: { row: SampleRow; onOpen: (index: number) => void }) {
  const text = row.response.trim();
  return (
    <tr>
      <td>{row.step}</td>
      <td>{formatFixed(row.score, 2)}</td>
      <td class="sample-kl">{formatFixed(row.kl, 2)}</td>
      <td dir="auto" title={row.prompt}>
        {text === '' ? <em>nothing</em> : visibleText(text)}
      </td>
      <td>
        {row.hasTokens && (
          <button
            type="button"
            aria-label={`${row.length} tokens of sample ${row.index}, step ${row.step}`}
            onClick={() => onOpen(row.index)}
          >
            {row.length}
          </button>
        )}
      </td>
    </tr>
  );
}

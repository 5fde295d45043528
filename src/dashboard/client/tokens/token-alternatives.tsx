import type { TokenColumns } from '../../api.ts';
import { formatProbability } from '../samples/format-number.ts';
import { alternativeRows } from './alternative-rows.ts';
import { TokenContent } from './token-content.tsx';

/** What the policy could have chosen at one place, with probabilities as bars. */
export function TokenAlternatives({
  columns,
  t,
  stopId,
}: {
  readonly columns: TokenColumns;
  readonly t: number;
  readonly stopId: number | undefined;
}) {
  return (
    <ol class="tokens-alternatives" aria-label="Likeliest tokens here">
      {alternativeRows(columns, t).map((row) => (
        <li key={row.id} class={row.isChosen ? 'is-chosen' : ''}>
          <span class="tokens-alternative-text" title={`token ${row.id}`} dir="auto">
            <TokenContent look={row} stopId={stopId} />
          </span>
          <span class="tokens-bar" aria-hidden="true">
            <span style={{ width: `${100 * Math.exp(row.logprob)}%` }} />
          </span>
          <span class="tokens-probability">{formatProbability(row.logprob)}</span>
          <span class="tokens-chosen">{row.isChosen ? '◀ chosen' : ''}</span>
        </li>
      ))}
    </ol>
  );
}

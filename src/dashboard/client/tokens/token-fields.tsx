import type { TokenColumns } from '../../api.ts';
import { formatNumber, formatProbability } from '../samples/format-number.ts';
import { visibleText } from '../samples/visible-text.ts';
import { saPairOf } from './sa-pair-of.ts';
import { TokenContent } from './token-content.tsx';
import { endOf, lookOf } from './token-text.ts';

/** Characters of the state that are shown: its end is what the token follows. */
const STATE_LIMIT = 160;

/** Every field of one (state, action) pair. */
export function TokenFields({
  columns,
  t,
  stopId,
}: {
  readonly columns: TokenColumns;
  readonly t: number;
  readonly stopId: number | undefined;
}) {
  const pair = saPairOf(columns, t);
  const rows: readonly (readonly [name: string, value: string, more?: string])[] = [
    ['actionTokenId', String(pair.actionTokenId)],
    ['promptIdx', String(pair.promptIdx)],
    ['step', String(pair.step), `of PPO step ${columns.step}`],
    ['logprob', formatNumber(pair.logprob), formatProbability(pair.logprob)],
    ['refLogprob', formatNumber(pair.refLogprob), formatProbability(pair.refLogprob)],
    ['klDiv', formatNumber(pair.klDiv)],
    ['value', formatNumber(pair.value)],
    ['advantage', formatNumber(pair.advantage)],
    ['rewardToGo', formatNumber(pair.rewardToGo)],
    ['reward', formatNumber(columns.rewards[t])],
    ['entropy', formatNumber(columns.entropies[t])],
    ['ratio', formatNumber(columns.ratios[t])],
  ];
  return (
    <>
      <p class="tokens-state" dir="auto">
        <span class="tokens-state-text">{visibleText(endOf(pair.stateText, STATE_LIMIT))}</span>
        <strong class="tokens-action">
          <TokenContent look={lookOf(columns, t)} stopId={stopId} />
        </strong>
      </p>
      <dl class="tokens-fields">
        {rows.map(([name, value, more]) => (
          <div key={name} class={more === undefined ? '' : 'is-wide'}>
            <dt>{name}</dt>
            <dd>
              {value}
              {more !== undefined && <span class="tokens-muted"> {more}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

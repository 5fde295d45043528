import type { SAPair } from '../../../token-attribution/rollout.ts';
import type { TokenColumns } from '../../api.ts';
import { formatFixed, formatProbability, visibleText } from '../format.ts';
import { lastCharacters, TokenContent, tokenLook } from './token-text.tsx';

interface TokenProps {
  readonly columns: TokenColumns;
  readonly t: number;
  readonly stopId: number | undefined;
}

/** Number of characters of the state that are shown, from its end. */
const STATE_LIMIT = 160;

/** Numbers below each other have the same number of decimals. */
const decimals = (x: number | null | undefined) => formatFixed(x, 4);

/** All fields of a (state, action) pair. */
export function TokenFields({ columns, t, stopId }: TokenProps) {
  const pair = toSAPair(columns, t);
  const rows: readonly (readonly [name: string, value: string, extra?: string])[] = [
    ['actionTokenId', String(pair.actionTokenId)],
    ['promptIdx', String(pair.promptIdx)],
    ['step', String(pair.step), `in PPO step ${columns.step}`],
    ['logprob', decimals(pair.logprob), formatProbability(pair.logprob)],
    ['refLogprob', decimals(pair.refLogprob), formatProbability(pair.refLogprob)],
    ['klDiv', decimals(pair.klDiv)],
    ['value', decimals(pair.value)],
    ['advantage', decimals(pair.advantage)],
    ['rewardToGo', decimals(pair.rewardToGo)],
    ['reward', decimals(columns.rewards[t])],
    ['entropy', decimals(columns.entropies[t])],
    ['ratio', decimals(columns.ratios[t])],
  ];
  return (
    <>
      <p class="tokens-state" dir="auto">
        <span class="tokens-state-text">
          {visibleText(lastCharacters(pair.stateText, STATE_LIMIT))}
        </span>
        <strong class="tokens-action">
          <TokenContent look={tokenLook(columns, t)} stopId={stopId} />
        </strong>
      </p>
      <dl class="tokens-fields">
        {rows.map(([name, value, extra]) => (
          <div key={name} class={extra === undefined ? '' : 'is-wide'}>
            <dt>{name}</dt>
            <dd>
              {value}
              {extra !== undefined && <span class="tokens-muted"> {extra}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Token t as a (state, action) pair.
 *  @example prompt 'a', texts [' b', ' c'], t=1  →  stateText 'a b', actionToken ' c' */
export function toSAPair(columns: TokenColumns, t: number): SAPair {
  const at = (column: readonly number[]) => column[t] ?? Number.NaN;
  return {
    stateText: columns.prompt + columns.texts.slice(0, t).join(''),
    actionToken: columns.texts[t] ?? '',
    actionTokenId: at(columns.ids),
    logprob: at(columns.logprobs),
    refLogprob: at(columns.refLogprobs),
    klDiv: at(columns.kl),
    value: at(columns.values),
    advantage: at(columns.advantages),
    rewardToGo: at(columns.returns),
    promptIdx: columns.promptIdx,
    step: t,
  };
}

/** The tokens that the policy could have chosen, with their probabilities as bars. */
export function TokenAlternatives({ columns, t, stopId }: TokenProps) {
  return (
    <ol class="tokens-alternatives" aria-label="Most likely tokens at this position">
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

/** A token that the policy could have chosen. */
interface AlternativeRow {
  readonly id: number;
  readonly text: string;
  readonly logprob: number;
  readonly isChosen: boolean;
}

/** The most likely tokens at position t, then the chosen one if it is not among them.
 *  @example alternatives 7 and 8, chosen 5  →  7, 8, 5 (chosen) */
export function alternativeRows(columns: TokenColumns, t: number): AlternativeRow[] {
  const chosen = {
    id: columns.ids[t]!,
    text: columns.texts[t] ?? '',
    logprob: columns.logprobs[t]!,
    isChosen: true,
  };
  const { ids, texts, logprobs } = columns.alternatives[t] ?? { ids: [], texts: [], logprobs: [] };
  const rows = ids.map((id, i) => ({
    id,
    text: texts[i] ?? '',
    logprob: logprobs[i] ?? Number.NaN,
    isChosen: id === chosen.id,
  }));
  return rows.some(({ isChosen }) => isChosen) ? rows : [...rows, chosen];
}

import type { VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { TokenColumns } from '../../api.ts';
import { formatNumber, visibleText } from '../format.ts';
import {
  colorScale,
  readMetric,
  TokenLegend,
  type TokenMetricName,
  tintPercent,
  tokenMetrics,
} from './token-colors.tsx';
import { TokenContent, TokenMarks, tokenLabel, tokenLook } from './token-text.tsx';

interface TokenListProps {
  readonly columns: TokenColumns;
  readonly stopId: number | undefined;
  readonly metric: TokenMetricName;
  /** The token whose numbers are shown: the one under the pointer, else the selected one. */
  readonly shown: number;
  readonly selected: number;
  readonly onSelect: (t: number) => void;
  /** Returns whether the key moved the selection. */
  readonly onKey: (key: string) => boolean;
  readonly onHover: (t: number | undefined) => void;
}

/** The response as coloured tokens, one of which is selected. */
export function TokenList(props: TokenListProps) {
  const { metric, shown, selected, onSelect, onKey, onHover } = props;
  const box = useRef<HTMLDivElement>(null);
  const { createToken, plainTokens, scale } = useTokens(props);
  // The plain tokens are the same objects as in the last render, so Preact skips them.
  const tokens = plainTokens.slice();
  tokens[selected] = createToken(selected, { isShown: shown === selected, hasFocus: true });
  if (shown !== selected) tokens[shown] = createToken(shown, { isShown: true, hasFocus: false });
  const tokenAt = (event: Event) => {
    const token = (event.target as Element).closest<HTMLElement>('[role=option]');
    return token === null ? undefined : Number(token.dataset.token);
  };
  const isFocused = useRef(false);
  useLayoutEffect(() => {
    if (!isFocused.current) return;
    box.current?.querySelector<HTMLElement>(`[data-token="${selected}"]`)?.focus();
  }, [selected]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!onKey(event.key)) return;
    isFocused.current = true;
    event.preventDefault();
  };
  const onClick = (event: Event) => {
    const t = tokenAt(event);
    if (t !== undefined) onSelect(t);
  };
  return (
    <>
      <div
        ref={box}
        class="tokens-list"
        role="listbox"
        aria-orientation="horizontal"
        aria-label={`Tokens of the response, coloured by ${tokenMetrics[metric].label}`}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onPointerOver={(event) => event.pointerType === 'mouse' && onHover(tokenAt(event))}
        onPointerLeave={() => onHover(undefined)}
        onBlur={() => {
          isFocused.current = false;
        }}
      >
        {withObservations(tokens, props.columns)}
      </div>
      <TokenLegend metric={tokenMetrics[metric]} scale={scale} />
      <TokenMarks texts={props.columns.texts} hasStop={props.stopId !== undefined} />
    </>
  );
}

/** Tokens with the texts of the environment between them, which the policy did not choose. */
function withObservations(
  tokens: readonly VNode[],
  { observations = [] }: TokenColumns,
): readonly VNode[] {
  if (observations.length === 0) return tokens;
  const byToken = new Map(observations.map(({ at, text }) => [at, text]));
  return tokens.flatMap((token, t) => {
    const text = byToken.get(t);
    if (text === undefined) return [token];
    const observed = (
      <span key={`observed ${t}`} class="tokens-observed" aria-hidden="true">
        {visibleText(text)}
      </span>
    );
    return [observed, token];
  });
}

interface TokenState {
  readonly isShown: boolean;
  readonly hasFocus: boolean;
}

/** All tokens drawn without selection, a function that draws one otherwise, and the colour scale. */
function useTokens({ columns, stopId, metric }: TokenListProps) {
  return useMemo(() => {
    const numbers = readMetric(metric, columns);
    const scale = colorScale(numbers, tokenMetrics[metric].scale);
    const { label } = tokenMetrics[metric];
    const createToken = (t: number, state: TokenState) => {
      const look = tokenLook(columns, t);
      const tint = scale.tint(numbers[t]);
      return (
        <span
          key={t}
          data-token={t}
          role="option"
          class={`tokens-token is-${tint?.hue ?? 'none'}${state.isShown ? ' is-shown' : ''}`}
          style={{ '--tint': tint === undefined ? '0%' : tintPercent(tint) }}
          tabIndex={state.hasFocus ? 0 : -1}
          aria-selected={state.isShown}
          aria-label={`${t + 1}: ${tokenLabel(look, stopId)}, ${label} ${formatNumber(numbers[t])}`}
        >
          <TokenContent look={look} stopId={stopId} />
        </span>
      );
    };
    const plain = { isShown: false, hasFocus: false };
    return { createToken, plainTokens: columns.ids.map((_, t) => createToken(t, plain)), scale };
  }, [columns, stopId, metric]);
}

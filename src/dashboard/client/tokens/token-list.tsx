import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { TokenColumns } from '../../api.ts';
import { formatNumber } from '../samples/format-number.ts';
import { colorScale, percentOf } from './color-scale.ts';
import { TokenContent } from './token-content.tsx';
import { TokenLegend } from './token-legend.tsx';
import { readMetric, type TokenMetricName, tokenMetrics } from './token-metrics.ts';
import { lookOf, tokenLabel } from './token-text.ts';

interface TokenListProps {
  readonly columns: TokenColumns;
  readonly stopId: number | undefined;
  readonly metric: TokenMetricName;
  /** The token that is looked at, and the one that stays so when the pointer leaves. */
  readonly shown: number;
  readonly chosen: number;
  readonly onChoose: (t: number) => void;
  /** Whether a key led to another token. */
  readonly onKey: (key: string) => boolean;
  readonly onHover: (t: number | undefined) => void;
}

/** The response as coloured tokens; one of them is chosen. */
export function TokenList(props: TokenListProps) {
  const { metric, shown, chosen, onChoose, onKey, onHover } = props;
  const box = useRef<HTMLDivElement>(null);
  const { makeToken, tokens, scale } = useTokens(props);
  // A token that is not looked at is the same object as before, which is not drawn again.
  const drawn = tokens.slice();
  drawn[chosen] = makeToken(chosen, { isShown: shown === chosen, hasFocus: true });
  if (shown !== chosen) drawn[shown] = makeToken(shown, { isShown: true, hasFocus: false });
  const tokenAt = (event: Event) => {
    const token = (event.target as Element).closest('[role=option]');
    return token === null ? undefined : [...token.parentElement!.children].indexOf(token);
  };
  const isFocused = useRef(false);
  useLayoutEffect(() => {
    if (isFocused.current) (box.current?.children[chosen] as HTMLElement | undefined)?.focus();
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!onKey(event.key)) return;
    isFocused.current = true;
    event.preventDefault();
  };
  const onClick = (event: Event) => {
    const t = tokenAt(event);
    if (t !== undefined) onChoose(t);
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
        {drawn}
      </div>
      <TokenLegend metric={tokenMetrics[metric]} scale={scale} />
    </>
  );
}

/** Every token drawn as one that is not looked at, the way to draw one otherwise, and the colours. */
function useTokens({ columns, stopId, metric }: TokenListProps) {
  return useMemo(() => {
    const numbers = readMetric(metric, columns);
    const scale = colorScale(numbers, tokenMetrics[metric].scale);
    const { label } = tokenMetrics[metric];
    const makeToken = (t: number, state: TokenState) => {
      const look = lookOf(columns, t);
      const tint = scale.tint(numbers[t]);
      return (
        <span
          key={t}
          role="option"
          class={`tokens-token is-${tint?.hue ?? 'none'}${state.isShown ? ' is-shown' : ''}`}
          style={{ '--tint': tint === undefined ? '0%' : percentOf(tint) }}
          tabIndex={state.hasFocus ? 0 : -1}
          aria-selected={state.isShown}
          aria-label={`${t + 1}: ${tokenLabel(look, stopId)}, ${label} ${formatNumber(numbers[t])}`}
        >
          <TokenContent look={look} stopId={stopId} />
        </span>
      );
    };
    const plain = { isShown: false, hasFocus: false };
    return { makeToken, tokens: columns.ids.map((_, t) => makeToken(t, plain)), scale };
  }, [columns, stopId, metric]);
}

interface TokenState {
  readonly isShown: boolean;
  readonly hasFocus: boolean;
}

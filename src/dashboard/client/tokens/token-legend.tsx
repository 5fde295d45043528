import { formatNumber } from '../samples/format-number.ts';
import { type ColorScale, percentOf } from './color-scale.ts';
import type { TokenMetric } from './token-metrics.ts';

/** Steps of colour that stand for the scale. */
const CELLS = 11;

/** The colours of a scale between its ends. */
export function TokenLegend({
  metric,
  scale,
}: {
  readonly metric: TokenMetric;
  readonly scale: ColorScale;
}) {
  const { min, max, center } = scale;
  const at = (i: number) => min + ((max - min) * i) / (CELLS - 1);
  return (
    <p class="tokens-legend">
      <span>{formatNumber(min)}</span>
      <span class="tokens-legend-bar" aria-hidden="true">
        {Array.from({ length: CELLS }, (_, i) => {
          const tint = scale.tint(at(i));
          const style = { '--tint': tint === undefined ? '0%' : percentOf(tint) };
          return <span key={i} class={`tokens-cell is-${tint?.hue ?? 'none'}`} style={style} />;
        })}
      </span>
      <span>{formatNumber(max)}</span>
      <span class="tokens-muted">
        {center !== undefined && `around ${center}: `}
        {metric.meaning}
      </span>
    </p>
  );
}

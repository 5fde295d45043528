import type { TokenColumns } from '../../api.ts';
import { formatNumber } from '../format.ts';
import { extentOf, fractionBetween } from '../samples/score-plot.tsx';

/** How numbers become colours: two colours on either side of a centre, or one colour from end to end. */
export type ScaleKind =
  | { readonly kind: 'diverging'; readonly center: number }
  /** `strong` is the end with the full colour. */
  | { readonly kind: 'sequential'; readonly strong: 'high' | 'low' };

/** The colour of a number, and how much of it, from 0 to 1. */
export interface Tint {
  readonly hue: 'low' | 'high';
  readonly amount: number;
}

export interface ColorScale {
  readonly min: number;
  readonly max: number;
  /** Where the two colours meet; undefined for a sequential scale. */
  readonly center: number | undefined;
  /** Undefined if there is no finite number. */
  tint(x: number | null | undefined): Tint | undefined;
}

/** A column that tokens can be coloured by. */
export interface TokenMetric {
  readonly label: string;
  /** What a strong colour means. */
  readonly meaning: string;
  readonly scale: ScaleKind;
  read(columns: TokenColumns): readonly (number | null)[];
}

const aroundZero: ScaleKind = { kind: 'diverging', center: 0 };
const strongLow: ScaleKind = { kind: 'sequential', strong: 'low' };
const strongHigh: ScaleKind = { kind: 'sequential', strong: 'high' };

/** The columns that tokens can be coloured by, by their name in the selector. */
export const tokenMetrics = {
  advantage: {
    label: 'Advantage A',
    meaning: 'blue: made more likely, orange: made less likely',
    scale: aroundZero,
    read: ({ advantages }) => advantages,
  },
  kl: {
    label: 'KL',
    meaning: 'blue: more likely than under the reference, orange: less likely',
    scale: aroundZero,
    read: ({ kl }) => kl,
  },
  value: {
    label: 'Value V',
    meaning: 'the return that the value model predicts from here',
    scale: strongHigh,
    read: ({ values }) => values,
  },
  logprob: {
    label: 'Log-probability log π',
    meaning: 'strong: surprising to the policy',
    scale: strongLow,
    read: ({ logprobs }) => logprobs,
  },
  refLogprob: {
    label: 'Reference log π_ref',
    meaning: 'strong: surprising to the reference',
    scale: strongLow,
    read: ({ refLogprobs }) => refLogprobs,
  },
  difference: {
    label: 'Difference log π − log π_ref',
    meaning: 'blue: more likely than under the reference, orange: less likely',
    scale: aroundZero,
    read: ({ logprobs, refLogprobs }) => logprobs.map((log, t) => log - refLogprobs[t]!),
  },
  entropy: {
    label: 'Entropy H',
    meaning: 'strong: the policy was uncertain',
    scale: strongHigh,
    read: ({ entropies }) => entropies,
  },
  ratio: {
    label: 'Ratio ρ',
    meaning: 'blue: became more likely in the update, orange: less likely',
    scale: { kind: 'diverging', center: 1 },
    read: ({ ratios }) => ratios,
  },
  return: {
    label: 'Return G',
    meaning: 'the return from here to the end',
    scale: strongHigh,
    read: ({ returns }) => returns,
  },
} as const satisfies Readonly<Record<string, TokenMetric>>;

export type TokenMetricName = keyof typeof tokenMetrics;

/** A metric's number for each token, without that of a step after the last token. */
export function readMetric(name: TokenMetricName, columns: TokenColumns): (number | null)[] {
  const metric: TokenMetric = tokenMetrics[name];
  return metric.read(columns).slice(0, columns.ids.length);
}

/** A scale over all numbers of a column. A diverging one extends equally to both sides of its centre.
 *  @example around 0: [−1, 0.5]  →  from −1 to 1; −1 is low 1, 0.5 is high ½
 *  @example sequential, strong low: [−4, 0]  →  −4 is high 1, −1 is high ¼ */
export function colorScale(numbers: readonly (number | null)[], scale: ScaleKind): ColorScale {
  const extent = extentOf(numbers) ?? { min: 0, max: 0 };
  const onlyFinite = (tint: (x: number) => Tint) => (x: number | null | undefined) =>
    x === null || x === undefined || !Number.isFinite(x) ? undefined : tint(x);
  if (scale.kind === 'sequential') {
    const tint = (x: number): Tint => {
      const fraction = fractionBetween(x, extent);
      if (extent.max === extent.min) return { hue: 'high', amount: 0 };
      return { hue: 'high', amount: scale.strong === 'high' ? fraction : 1 - fraction };
    };
    return { ...extent, center: undefined, tint: onlyFinite(tint) };
  }
  const { center } = scale;
  const reach = Math.max(extent.max - center, center - extent.min, 0);
  const tint = (x: number): Tint => ({
    hue: x < center ? 'low' : 'high',
    amount: reach === 0 ? 0 : Math.abs(x - center) / reach,
  });
  return { min: center - reach, max: center + reach, center, tint: onlyFinite(tint) };
}

/** The percentage of a tint's colour in the background; text stays readable (4.5 : 1) at 100 %. */
export function tintPercent({ amount }: Tint): string {
  return `${(100 * amount).toFixed(1)}%`;
}

/** Number of colour samples in the legend. */
const LEGEND_CELLS = 11;

/** The colours of a scale between its ends. */
export function TokenLegend({
  metric,
  scale,
}: {
  readonly metric: TokenMetric;
  readonly scale: ColorScale;
}) {
  const { min, max, center } = scale;
  const numberAt = (i: number) => min + ((max - min) * i) / (LEGEND_CELLS - 1);
  return (
    <p class="tokens-legend">
      <span>{formatNumber(min)}</span>
      <span class="tokens-legend-bar" aria-hidden="true">
        {Array.from({ length: LEGEND_CELLS }, (_, i) => {
          const tint = scale.tint(numberAt(i));
          const style = { '--tint': tint === undefined ? '0%' : tintPercent(tint) };
          return <span key={i} class={`tokens-cell is-${tint?.hue ?? 'none'}`} style={style} />;
        })}
      </span>
      <span>{formatNumber(max)}</span>
      <span class="tokens-muted">
        {center !== undefined && `centred on ${center}; `}
        {metric.meaning}
      </span>
    </p>
  );
}

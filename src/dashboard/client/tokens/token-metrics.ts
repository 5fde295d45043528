import type { TokenColumns } from '../../api.ts';
import type { ScaleKind } from './color-scale.ts';

/** A column that tokens can be coloured by. */
export interface TokenMetric {
  readonly label: string;
  /** What a strong colour says. */
  readonly meaning: string;
  readonly scale: ScaleKind;
  read(columns: TokenColumns): readonly (number | null)[];
}

const aroundZero: ScaleKind = { kind: 'diverging', center: 0 };
const towardsLow: ScaleKind = { kind: 'sequential', strong: 'low' };
const towardsHigh: ScaleKind = { kind: 'sequential', strong: 'high' };

/** Every way to colour tokens, by its name in the selector. */
export const tokenMetrics = {
  advantage: {
    label: 'Advantage A',
    meaning: 'blue is made likelier, orange less likely',
    scale: aroundZero,
    read: ({ advantages }) => advantages,
  },
  kl: {
    label: 'KL',
    meaning: 'blue is likelier than in the reference, orange less likely',
    scale: aroundZero,
    read: ({ kl }) => kl,
  },
  value: {
    label: 'Value V',
    meaning: 'what the value model expects from here',
    scale: towardsHigh,
    read: ({ values }) => values,
  },
  logprob: {
    label: 'Log-probability log π',
    meaning: 'strong is surprising to the policy',
    scale: towardsLow,
    read: ({ logprobs }) => logprobs,
  },
  refLogprob: {
    label: 'Reference log π_ref',
    meaning: 'strong is surprising to the reference',
    scale: towardsLow,
    read: ({ refLogprobs }) => refLogprobs,
  },
  difference: {
    label: 'Difference log π − log π_ref',
    meaning: 'blue is likelier than in the reference, orange less likely',
    scale: aroundZero,
    read: ({ logprobs, refLogprobs }) => logprobs.map((log, t) => log - refLogprobs[t]!),
  },
  entropy: {
    label: 'Entropy H',
    meaning: 'strong is where the policy was undecided',
    scale: towardsHigh,
    read: ({ entropies }) => entropies,
  },
  ratio: {
    label: 'Ratio ρ',
    meaning: 'blue became likelier in the update, orange less likely',
    scale: { kind: 'diverging', center: 1 },
    read: ({ ratios }) => ratios,
  },
  return: {
    label: 'Return G',
    meaning: 'what came from here on',
    scale: towardsHigh,
    read: ({ returns }) => returns,
  },
} as const satisfies Readonly<Record<string, TokenMetric>>;

export type TokenMetricName = keyof typeof tokenMetrics;

/** A metric's number of each token: without that of a step after the last. */
export function readMetric(name: TokenMetricName, columns: TokenColumns): (number | null)[] {
  const metric: TokenMetric = tokenMetrics[name];
  return metric.read(columns).slice(0, columns.ids.length);
}

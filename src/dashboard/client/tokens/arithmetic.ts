import { gaeAdvantages, returnsOf, rewardToGo, tdErrors } from '../../../advantage/gae.ts';
import type { PPOConfig } from '../../../config/ppo-config.ts';
import type { SampleRow, TokenColumns } from '../../api.ts';
import { formatExact, formatNumber } from '../format.ts';

/** The settings of PPO that decide a token's numbers. */
const settings = [
  'advantageEstimator',
  'klEstimator',
  'klPlacement',
  'rewardPlacement',
  'scoreNormalization',
  'scoreClip',
  'missingEosPenalty',
  'whitenRewards',
  'centerRewards',
  'clipEpsilon',
  'clipEpsilonHigh',
  'dualClip',
  'ratioLevel',
  'rolloutCorrection',
  'rolloutPrecision',
  'topK',
  'topP',
  'minP',
] as const satisfies readonly (keyof PPOConfig)[];

export type ArithmeticConfig = Pick<PPOConfig, (typeof settings)[number]>;

/** Reads these settings from a run's config.json. A setting that is missing or of the wrong type has
 *  its default; optional ones are numbers. */
export function readArithmeticConfig(
  config: Readonly<Record<string, unknown>>,
  defaults: ArithmeticConfig,
): ArithmeticConfig {
  const entries = settings.map((name) => {
    const type = defaults[name] === undefined ? 'number' : typeof defaults[name];
    const isValid = typeof config[name] === type;
    return [name, isValid ? config[name] : defaults[name]];
  });
  return Object.fromEntries(entries) as ArithmeticConfig;
}

/** A response with what its arithmetic needs. */
export interface ArithmeticInput {
  readonly columns: TokenColumns;
  readonly config: ArithmeticConfig;
  /** The response's row in samples.jsonl, which has the score; undefined if it was not found. */
  readonly row: Pick<SampleRow, 'score' | 'finished'> | undefined;
}

/** Numbers of a response, recomputed from the recorded rewards and values by the trainer's own
 *  functions. There is one number per step: a step per token, and one more after the last token if
 *  rewards are placed `after-final`. */
export interface Recomputed {
  /** δ_t; only for GAE. */
  readonly errors: Float32Array | undefined;
  /** A_t before whitening; undefined if they depend on other responses. */
  readonly advantages: Float32Array | undefined;
  /** G_t */
  readonly returns: Float32Array;
}

/** Recomputes the TD errors, advantages and returns of one response.
 *  @example γ=1, λ=½, r=[0, 0, 1], V=[½, ½, ½]  →  δ=[0, 0, ½], A=[⅛, ¼, ½], G=[⅝, ¾, 1] */
export function recompute(
  { gamma, lambda, ...columns }: TokenColumns,
  { advantageEstimator: name }: Pick<ArithmeticConfig, 'advantageEstimator'>,
): Recomputed {
  const rewards = Float32Array.from(columns.rewards);
  const offsets = Int32Array.of(0, rewards.length);
  if (name !== 'gae') {
    const returns = rewardToGo(rewards, { offsets, gamma });
    const advantages = name === 'reinforce++' ? returns : undefined;
    return { errors: undefined, advantages, returns };
  }
  const values = Float32Array.from(columns.values);
  const errors = tdErrors(rewards, values, { offsets, gamma });
  const advantages = gaeAdvantages(errors, { offsets, gamma, lam: lambda });
  return { errors, advantages, returns: returnsOf(advantages, values) };
}

/** One equation: a symbol, its formula, the formula with numbers, and the result. `_t` and `_{t+1}`
 *  are subscripts. */
export interface ArithmeticLine {
  readonly name: string;
  readonly formula: string;
  readonly numbers: string;
  readonly result: number;
  /** The number that the run recorded; undefined if it recorded none. */
  readonly recorded: number | undefined;
  /** Whether result and recorded number differ by more than rounding. */
  readonly differs: boolean;
  readonly remark: string | undefined;
}

/** Largest difference that counts as rounding; relative for numbers above 1. */
const TOLERANCE = 1e-3;

/** Builds a line and compares its result with the recorded number.
 *  @example result 0.5, recorded 0.5005  →  agrees;  recorded 0.502  →  differs */
export function arithmeticLine({
  result = Number.NaN,
  recorded,
  remark,
  ...texts
}: Pick<ArithmeticLine, 'name' | 'formula' | 'numbers'> & {
  readonly result: number | undefined;
  readonly recorded?: number | undefined;
  readonly remark?: string | undefined;
}): ArithmeticLine {
  const size = Math.max(1, Math.abs(recorded ?? 0));
  const differs = recorded !== undefined && Math.abs(result - recorded) > TOLERANCE * size;
  return { ...texts, result, recorded, differs, remark };
}

/** Formats a formula with numbers; a negative number after an operator is put in brackets.
 *  @example withNumbers`${1} − ${-2}`  →  '1 − (−2)' */
export function withNumbers(
  parts: TemplateStringsArray,
  ...values: readonly (number | string | null | undefined)[]
): string {
  return parts.reduce((text, part, i) => {
    const value = values[i - 1];
    if (typeof value === 'string') return text + value + part;
    const needsBrackets = /[−+·] ?$/.test(text) && typeof value === 'number' && value < 0;
    const number = formatExact(value);
    return text + (needsBrackets ? `(${number})` : number) + part;
  });
}

/** The result of a line, with two digits fewer than its numbers, so that their rounding does not show. */
export function formatResult(result: number): string {
  return formatNumber(result, 5);
}

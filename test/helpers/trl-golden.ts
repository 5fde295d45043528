import { readFileSync } from 'node:fs';
import { offsetsOf } from '../../src/columns/index.ts';

export const trlCases = [
  '1-k1-ragged',
  '2-k3-ragged',
  '3-whiten-rewards',
  '4-missing-eos',
  '5-much-clipping',
  '6-first-update-full-length',
] as const;

/** Numbers of B sequences, padded to T positions. */
type Grid = readonly (readonly number[])[];

/** The fields that tests read from a step of TRL's PPO trainer on random numbers. */
interface TrlFile {
  readonly hyperparameters: {
    readonly gamma: number;
    readonly lam: number;
    readonly kl_coef: number;
    readonly kl_estimator: 'k1' | 'k3';
    readonly cliprange: number;
    readonly cliprange_value: number;
    readonly temperature: number;
    readonly whiten_rewards: boolean;
    readonly missing_eos_penalty: number | null;
    readonly stop_token_id: number;
  };
  readonly inputs: Readonly<
    Record<
      'responses' | 'logprobs' | 'ref_logprobs' | 'values' | 'new_logprobs' | 'new_values',
      Grid
    >
  > & {
    readonly lengths: readonly number[];
    readonly scores: readonly number[];
    readonly new_logits: readonly Grid[];
  };
  readonly outputs: Readonly<
    Record<
      | 'kl'
      | 'non_score_reward'
      | 'rewards_before_whitening'
      | 'rewards'
      | 'advantages_before_whitening'
      | 'returns'
      | 'advantages'
      | 'ratio'
      | 'entropy_per_position'
      | 'grad_pg_loss_new_logprobs'
      | 'grad_vf_loss_new_values',
      Grid
    >
  > &
    Readonly<Record<'pg_loss' | 'vf_loss' | 'pg_clipfrac' | 'vf_clipfrac', number>> & {
      readonly scores_after_penalty: readonly number[];
      readonly grad_pg_loss_new_logits: readonly Grid[];
    };
  /** Means over real tokens; those of TRL include padding. */
  readonly masked_means_not_in_trl: Readonly<Record<'approxkl' | 'entropy' | 'ratio_mean', number>>;
}

export interface TrlGolden extends TrlFile {
  readonly sequences: readonly { readonly promptIdx: number; readonly sample: number }[];
  /** Real tokens, [B + 1]. */
  readonly offsets: Int32Array;
  /** Tokens, plus one step after each response shorter than T, [B + 1]. */
  readonly stepOffsets: Int32Array;
  /** A column of the real tokens of a grid. */
  readonly tokens: (grid: Grid) => Float32Array;
  /** A column of the steps of a grid. */
  readonly steps: (grid: Grid) => Float32Array;
  /** Numbers of the real tokens if each position has several, row by row. */
  readonly rows: (grids: readonly Grid[]) => Float32Array;
}

/** A golden of test/fixtures/trl-ppo, with functions that read its padded grids as columns. */
export function readTrlGolden(name: (typeof trlCases)[number]): TrlGolden {
  const url = new URL(`../fixtures/trl-ppo/${name}.json`, import.meta.url);
  const file: TrlFile = JSON.parse(readFileSync(url, 'utf8'));
  const { lengths, responses } = file.inputs;
  const stepCounts = lengths.map((length, i) => Math.min(length + 1, responses[i]!.length));
  const column = (grid: Grid, counts: readonly number[]) =>
    Float32Array.from(grid.flatMap((row, i) => row.slice(0, counts[i]!)));
  return {
    ...file,
    sequences: lengths.map((_, promptIdx) => ({ promptIdx, sample: 0 })),
    offsets: offsetsOf(lengths),
    stepOffsets: offsetsOf(stepCounts),
    tokens: (grid) => column(grid, lengths),
    steps: (grid) => column(grid, stepCounts),
    rows: (grids) =>
      Float32Array.from(grids.flatMap((grid, i) => grid.slice(0, lengths[i]!).flat())),
  };
}

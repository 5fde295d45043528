import { describe, expect, test } from 'vitest';
import { resolvePPOConfig } from '../../../config/ppo-config.ts';
import type { TokenColumns } from '../../api.ts';
import { type ArithmeticConfig, type ArithmeticLine, readArithmeticConfig } from './arithmetic.ts';
import { explainToken } from './explain-token.ts';
import { makeColumns } from './test-columns.ts';

const defaults: ArithmeticConfig = resolvePPOConfig();
const row = { score: 1, finished: true };

function explain(
  t: number,
  {
    columns = {},
    config = {},
  }: { columns?: Partial<TokenColumns>; config?: Partial<ArithmeticConfig> } = {},
) {
  const merged = { ...defaults, ...config };
  return explainToken({ columns: makeColumns(columns), config: merged, row }, t);
}

const write = ({ name, formula, numbers, result }: ArithmeticLine) =>
  `${name} = ${formula} = ${numbers} = ${result}`;
const named = (lines: readonly ArithmeticLine[], name: string) =>
  lines.find((line) => line.name === name);

describe('explainToken()', () => {
  test('writes out the hand-worked numbers of the last token', () => {
    const { lines, afterLast, notes } = explain(2);
    expect(lines.map(write)).toEqual([
      'KL_t = log π − log π_ref = −1 − (−1.5) = 0.5',
      'r_t = −β·KL_t + score = −0·0.5 + 1 = 1',
      'δ_t = r_t + γ·V_{t+1} − V_t = 1 + 1·0 − 0.5 = 0.5',
      'A_t = δ_t + γ·λ·A_{t+1} = 0.5 + 1·0.5·0 = 0.5',
      'G_t = A_t + V_t = 0.5 + 0.5 = 1',
    ]);
    expect(lines.some(({ differs }) => differs)).toBe(false);
    expect(lines.map(({ recorded }) => recorded)).toEqual([0.5, 1, undefined, 0.5, 1]);
    expect(afterLast).toEqual([]);
    expect(notes).toEqual([]);
  });

  test('a token before the last has no score and uses the value and advantage after it', () => {
    const { lines } = explain(1, { columns: { klCoef: 0.1, rewards: [-0.05, -0.05, 0.95] } });
    expect(write(named(lines, 'r_t')!)).toBe(`r_t = −β·KL_t = −0.1·0.5 = ${Math.fround(-0.05)}`);
    expect(named(lines, 'δ_t')?.numbers).toBe('−0.05 + 1·0.5 − 0.5');
    expect(named(lines, 'A_t')?.numbers).toBe('−0.05 + 1·0.5·0.45');
    expect(named(lines, 'A_t')?.result).toBeCloseTo(0.175, 7);
  });

  test('numbers that do not follow from the others are marked', () => {
    const { lines } = explain(0, { columns: { advantages: [0.127, 0.25, 0.5] } });
    expect(named(lines, 'A_t')?.differs).toBe(true);
    expect(named(lines, 'G_t')?.differs).toBe(false);
    const near = explain(0, { columns: { advantages: [0.1255, 0.25, 0.5] } });
    expect(named(near.lines, 'A_t')?.differs).toBe(false);
  });

  test('whitened advantages are compared after whitening, returns before', () => {
    const { lines } = explain(0, {
      columns: { whitening: { mean: 0.025, std: 0.2 }, advantages: [0.5, 1, 2] },
    });
    expect(named(lines, 'A′_t')?.numbers).toBe('(0.125 − 0.025)/0.2');
    expect(named(lines, 'A′_t')?.result).toBeCloseTo(0.5, 6);
    expect(named(lines, 'A_t')?.recorded).toBeUndefined();
    expect(lines.some(({ differs }) => differs)).toBe(false);
  });

  test('with after-final the last token has no score, and the step after it is shown', () => {
    const columns = {
      rewards: [0, 0, 0, 1],
      values: [0.5, 0.5, 0.5, 0.5],
      advantages: [0.0625, 0.125, 0.25],
      returns: [0.5625, 0.625, 0.75, 1],
    };
    const config = { rewardPlacement: 'after-final' } as const;
    const { lines, afterLast } = explain(2, { columns, config });
    expect(named(lines, 'r_t')?.formula).toBe('−β·KL_t');
    expect(named(lines, 'δ_t')?.numbers).toBe('0 + 1·0.5 − 0.5');
    expect(afterLast.map(write)).toEqual([
      'r_t = score = 1 = 1',
      'δ_t = r_t + γ·V_{t+1} − V_t = 1 + 1·0 − 0.5 = 0.5',
      'A_t = δ_t + γ·λ·A_{t+1} = 0.5 + 1·0.5·0 = 0.5',
      'G_t = A_t + V_t = 0.5 + 0.5 = 1',
    ]);
    expect([...lines, ...afterLast].some(({ differs }) => differs)).toBe(false);
    expect(explain(1, { columns, config }).afterLast).toEqual([]);
  });
});

describe('the loss', () => {
  test('is clipped if the ratio has moved too far', () => {
    // ρ = 1.5, A = ¼, ε = 0.2: −min(0.375, 0.3) = −0.3.
    const loss = named(explain(1).lines, 'ℓ_t')!;
    expect(loss.numbers).toBe('−min(1.5·0.25, clip(1.5, 0.8, 1.2)·0.25)');
    expect(loss.result).toBeCloseTo(-0.3, 12);
    expect(loss.remark).toBe('ρ is clipped, so the gradient is 0');
  });

  test('is missing if the token has no ratio', () => {
    expect(named(explain(2).lines, 'ℓ_t')).toBeUndefined();
  });

  test('is weighted if the token was not sampled from π_old', () => {
    // log π = −1; π/π_sampling is ½, 1 and 4, the last one capped at 2.
    const columns = {
      samplingLogprobs: [-1 + Math.log(2), -1, -1 - Math.log(4)],
      ratios: [1, 1, 1],
    };
    const [half, one, two] = [0, 1, 2].map((t) => {
      const { lines, notes } = explain(t, { columns, config: { rolloutCorrection: 2, topK: 9 } });
      expect(notes).toEqual([]);
      return ['w_t', 'ℓ_t'].map((name) => named(lines, name)!);
    });
    expect(half![0]!.numbers).toBe('min(e^(−1 − (−0.3068528)), 2)');
    expect(half![0]!.result).toBeCloseTo(0.5, 6);
    expect(half![1]!.formula).toBe('−w_t·min(ρ·A, clip(ρ, 1 − ε, 1 + ε)·A)');
    expect(half![1]!.numbers).toBe('−0.5·min(1·0.125, clip(1, 0.8, 1.2)·0.125)');
    // A = ⅛, ¼ and ½ times their weights.
    const losses = [half, one, two].map((lines) => lines![1]!.result);
    expect(losses[0]).toBeCloseTo(-0.0625, 6);
    expect(losses[1]).toBeCloseTo(-0.25, 12);
    expect(losses[2]).toBe(-1);
    expect([one, two].map((lines) => lines![0]!.remark)).toEqual([undefined, 'capped at 2']);
  });

  test('has a note if the run did not record what its weight needs', () => {
    const recorded = { rolloutCorrection: 2, rolloutPrecision: 'int8', topP: 0.9 };
    const config = readArithmeticConfig(recorded, defaults);
    const { lines, notes } = explain(1, { config });
    expect(named(lines, 'w_t')).toBeUndefined();
    expect(notes).toEqual([
      "Tokens are sampled with rolloutPrecision int8 and topP 0.9, so the run's loss is w_t·ℓ_t with w_t = min(π/π_{sampling}, 2). The run did not record π_{sampling}, so ℓ_t is shown without w_t.",
    ]);
    for (const changes of [
      { rolloutCorrection: 0 },
      { rolloutPrecision: 'f32', topP: 1, minP: 0 },
    ]) {
      const without = readArithmeticConfig({ ...recorded, ...changes }, defaults);
      expect(explain(1, { config: without }).notes).toEqual([]);
    }
  });

  test('uses the geometric mean for a sequence-level ratio', () => {
    const { lines, notes } = explain(0, {
      columns: { ratios: [1, 8, 1] },
      config: { ratioLevel: 'sequence', clipEpsilonHigh: 9 },
    });
    expect(named(lines, 'ℓ_t')?.result).toBeCloseTo(-2 * 0.125, 12);
    expect(notes[0]).toContain('geometric mean');
  });
});

describe('other configs', () => {
  test.each(['rloo', 'grpo', 'reinforce++'] as const)(
    "%s says that GAE's formulas do not apply",
    (advantageEstimator) => {
      const { lines, notes } = explain(0, {
        columns: { returns: [1, 1, 1], values: [0, 0, 0], advantages: [1, 1, 1] },
        config: { advantageEstimator },
      });
      expect(notes[0]).toContain(
        `Advantages come from ${advantageEstimator}, so GAE's δ_t and A_t do not apply`,
      );
      expect(named(lines, 'δ_t')).toBeUndefined();
      expect(named(lines, 'G_t')?.numbers).toBe('0 + 1·1');
      expect(lines.some(({ differs }) => differs)).toBe(false);
    },
  );

  test('TD errors are computed from whitened rewards', () => {
    const { lines, notes } = explain(2, {
      columns: { rewards: [0, 0, 1], rewardWhitening: { mean: 0, std: 1 } },
      config: { whitenRewards: true },
    });
    expect(named(lines, 'r′_t')?.result).toBe(1);
    expect(named(lines, 'δ_t')?.formula).toBe('r′_t + γ·V_{t+1} − V_t');
    expect(notes[0]).toContain('whitenRewards');
  });

  test('a KL penalty in the loss is not in the reward', () => {
    const { lines, notes } = explain(0, {
      columns: { klCoef: 0.1 },
      config: { klPlacement: 'loss' },
    });
    expect(named(lines, 'r_t')?.formula).toBe('0');
    expect(named(lines, 'r_t')?.result).toBe(0);
    expect(notes[0]).toContain('part of the loss');
  });
});

import { describe, expect, test } from 'vitest';
import { resolvePPOConfig } from '../../../config/ppo-config.ts';
import type { ArithmeticConfig } from './arithmetic.ts';
import { explainReward, shapeScore } from './explain-reward.ts';
import { makeColumns } from './test-columns.ts';

const config: ArithmeticConfig = resolvePPOConfig();
const row = { score: 1, finished: true };

describe('shapeScore()', () => {
  const columns = makeColumns();

  test('subtracts the penalty for a missing stop token, then clips', () => {
    const shaped = { ...config, missingEosPenalty: 0.5, scoreClip: 1 };
    const shape = (score: number | null, finished: boolean) =>
      shapeScore({ columns, config: shaped, row: { score, finished } });
    expect(shape(2, false)).toBe(1);
    expect(shape(0.75, false)).toBe(0.25);
    expect(shape(0.75, true)).toBe(0.75);
    expect(shape(-4, true)).toBe(-1);
    expect(shape(null, true)).toBeUndefined();
  });

  test('is unknown if scores are normalised with those of other responses', () => {
    const normalised: ArithmeticConfig = { ...config, scoreNormalization: 'batch' };
    expect(shapeScore({ columns, config: normalised, row })).toBeUndefined();
  });
});

describe('explainReward()', () => {
  test.each([
    ['final', [0, 0, 1], [false, false, true]],
    ['every', [1, 1, 1], [true, true, true]],
    ['after-final', [0, 0, 0, 1], [false, false, false, true]],
  ] as const)('adds the score where rewardPlacement %s puts it', (placement, rewards, expected) => {
    const columns = makeColumns({ rewards });
    const input = { columns, config: { ...config, rewardPlacement: placement }, row };
    const lines = rewards.map((_, step) => explainReward(input, step)[0]!);
    expect(lines.map(({ formula }) => formula.includes('score'))).toEqual(expected);
    expect(lines.map(({ differs }) => differs)).toEqual(rewards.map(() => false));
  });

  test('whitens rewards with the recorded mean and standard deviation', () => {
    // r = [−0.05, −0.05, 0.95]; r′ = (r − 0.25)/0.5 + 0.25 = [−0.35, −0.35, 1.65].
    const columns = makeColumns({
      klCoef: 0.1,
      rewards: [-0.35, -0.35, 1.65],
      rewardWhitening: { mean: 0.25, std: 0.5 },
    });
    const input = { columns, config: { ...config, whitenRewards: true }, row };
    const [r, whitened] = explainReward(input, 2);
    expect(r).toMatchObject({ name: 'r_t', numbers: '−0.1·0.5 + 1', recorded: undefined });
    expect(r!.result).toBeCloseTo(0.95, 6);
    expect(whitened).toMatchObject({
      name: 'r′_t',
      formula: '(r_t − μ)/σ + μ',
      numbers: '(0.95 − 0.25)/0.5 + 0.25',
      recorded: 1.65,
      differs: false,
    });
    expect(whitened!.result).toBeCloseTo(1.65, 6);
  });

  test('derives a normalised score from a whitened reward', () => {
    const columns = makeColumns({ rewards: [0, 0, 2], rewardWhitening: { mean: 1, std: 0.5 } });
    const normalised: ArithmeticConfig = {
      ...config,
      whitenRewards: true,
      scoreNormalization: 'batch',
    };
    const [r] = explainReward({ columns, config: normalised, row }, 2);
    // (2 − 1)·0.5 + 1 = 1.5
    expect(r!.result).toBe(1.5);
  });

  test('shows whitened rewards as recorded if the run has no mean and standard deviation', () => {
    const columns = makeColumns({ rewards: [0, 0, 2] });
    const input = { columns, config: { ...config, whitenRewards: true }, row };
    const [r, whitened] = explainReward(input, 2);
    expect(r).toMatchObject({ result: 1, recorded: undefined });
    expect(whitened).toMatchObject({ numbers: 'as recorded', result: 2, recorded: undefined });
  });

  test('names scores of single tokens as a possible reason for a remainder', () => {
    const input = { columns: makeColumns({ rewards: [0.25, 0, 1] }), config, row };
    const [r] = explainReward(input, 0);
    expect(r!.differs).toBe(true);
    expect(r!.remark).toContain('the remaining 0.25');
  });

  test('derives a normalised score from the recorded reward', () => {
    const normalised: ArithmeticConfig = { ...config, scoreNormalization: 'running' };
    const columns = makeColumns({ rewards: [0, 0, 0.4] });
    const [r] = explainReward({ columns, config: normalised, row }, 2);
    expect(r!.result).toBeCloseTo(0.4, 7);
    expect(r!.remark).toContain('scoreNormalization running changed the score from 1 to 0.4');
  });
});

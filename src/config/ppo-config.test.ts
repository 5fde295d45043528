import { describe, expect, it } from 'vitest';
import { ConfigError } from './parse-config.ts';
import { type PPOConfigOptions, presets, resolvePPOConfig } from './ppo-config.ts';
import { resolveTrainingConfig } from './training-config.ts';

function errorOf(options: object): string {
  try {
    resolvePPOConfig(options as PPOConfigOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('the config was accepted');
}

describe('resolvePPOConfig()', () => {
  it('has the defaults of the specification', () => {
    expect(resolvePPOConfig()).toMatchObject({
      modelName: 'Qwen/Qwen3-0.6B-Base',
      maxNewTokens: 50,
      batchSize: 4,
      learningRate: 1e-5,
      valueLearningRate: 1e-4,
      klCoef: 0.1,
      gamma: 0.99,
      lam: 0.95,
      clipEpsilon: 0.2,
      maxGradNorm: 1,
      valueLossCoef: 0.5,
      loraR: 16,
      loraAlpha: 32,
      loraDropout: 0.1,
    });
  });

  it('accepts its own result', () => {
    const config = resolvePPOConfig({ batchSize: 8, stop: ['\n'] });
    expect(resolvePPOConfig(config)).toEqual(config);
  });

  it.each(['rloo', 'grpo', 'reinforce++'] as const)(
    'puts the KL penalty of %s into the loss and discounts nothing by default',
    (advantageEstimator) => {
      const options = { advantageEstimator, samplesPerPrompt: 2 };
      expect(resolvePPOConfig(options)).toMatchObject({
        ...{ klPlacement: 'loss', klEstimator: 'k3', gamma: 1 },
      });
      expect(resolvePPOConfig({ ...options, klEstimator: 'k2', gamma: 0.9 })).toMatchObject({
        ...{ klPlacement: 'loss', klEstimator: 'k2', gamma: 0.9 },
      });
    },
  );

  it('generates from a packed copy of an 8-bit base if responses may be long', () => {
    const precisionOf = (options: PPOConfigOptions) => resolvePPOConfig(options).rolloutPrecision;
    for (const basePrecision of ['int8', 'auto'] as const) {
      expect(precisionOf({ basePrecision })).toBe('int8');
      expect(precisionOf({ basePrecision, maxNewTokens: 63 })).toBe('int8');
      expect(precisionOf({ basePrecision, maxNewTokens: 64 })).toBe('int8-packed');
      expect(precisionOf({ basePrecision, maxNewTokens: 64, rolloutPrecision: 'f32' })).toBe('f32');
    }
    expect(precisionOf({ maxNewTokens: 64 })).toBe('f32');
  });

  it('accepts all, a number or a range as loraLayers', () => {
    for (const loraLayers of ['all', 8, '8', '4-11']) {
      expect(resolvePPOConfig({ loraLayers }).loraLayers).toBe(loraLayers);
    }
    for (const loraLayers of ['half', 0, '0', '4-', '-1', 1.5, [4, 11]]) {
      expect(errorOf({ loraLayers })).toBe(
        `Cannot use the PPO config: loraLayers must be all, a number n of upper layers, or a range such as 4-11, got ${JSON.stringify(loraLayers)}`,
      );
    }
  });

  it('keeps the KL penalty of gae in the reward', () => {
    expect(resolvePPOConfig({ advantageEstimator: 'gae' })).toEqual(resolvePPOConfig());
    expect(resolvePPOConfig()).toMatchObject({ klPlacement: 'reward', klEstimator: 'k1' });
  });

  it('uses a preset for settings that are not set', () => {
    const config = resolvePPOConfig({ preset: 'specification', klCoef: 0.2, gamma: undefined });
    expect(config).toMatchObject({ ...presets.specification, klCoef: 0.2 });
    expect(resolvePPOConfig(config)).toEqual(config);
  });

  it.each<[object, string]>([
    [{ preset: 'spec' }, 'preset must be specification, got "spec"'],
    [
      { advantageEstimator: 'grpo', samplesPerPrompt: 2, klPlacement: 'reward' },
      'klPlacement must be loss for grpo unless klCoef is 0',
    ],
    [
      { advantageEstimator: 'rloo', samplesPerPrompt: 2, whitenRewards: true },
      'whitenRewards must be false for rloo',
    ],
    [{ centerRewards: true }, 'centerRewards must be false unless whitenRewards is true, got true'],
    [{ kl_coef: 0.1 }, 'it has no "kl_coef"; did you mean "klCoef"?'],
    [{ batchSize: 0 }, 'batchSize must be a whole number ≥ 1, got 0'],
    [{ temperature: 0 }, 'temperature must be a number > 0, got 0'],
    [{ klEstimator: 'k4' }, 'klEstimator must be k1, k2 or k3, got "k4"'],
    [{ miniBatchSize: 9 }, 'miniBatchSize must be at most batchSize × samplesPerPrompt (4), got 9'],
    [
      { bufferCapacity: 3 },
      'bufferCapacity must be at least batchSize × samplesPerPrompt (4), got 3',
    ],
    [
      { bufferSampling: 'random' },
      'bufferSampling must be shuffled, sequential, by-length or uniform, got "random"',
    ],
    [
      { miniBatchSize: 2, microBatchSize: 3 },
      'microBatchSize must be at most the responses of an optimiser step (2), got 3',
    ],
    [{ advantageEstimator: 'grpo' }, 'samplesPerPrompt must be at least 2 for grpo'],
    [
      { advantageEstimator: 'reinforce++', rewardPlacement: 'after-final' },
      'rewardPlacement must be final or every for reinforce++',
    ],
    [{ clipEpsilon: 1 }, 'clipEpsilon must be < 1'],
    [{ dualClip: 1.1 }, 'dualClip must be above 1 + clipEpsilonHigh (1.2), got 1.1'],
    [{ klController: 'adaptive', klCoef: 0 }, 'klCoef must be above 0 if klController is adaptive'],
    [{ klPlacement: 'loss' }, 'klEstimator must be k2 or k3 if klPlacement is loss'],
  ])('rejects %j', (options, message) => {
    expect(errorOf(options)).toContain(`Cannot use the PPO config: ${message}`);
  });
});

describe('resolveTrainingConfig()', () => {
  it('fills in defaults and rejects unknown keys', () => {
    expect(resolveTrainingConfig()).toMatchObject({ numEpochs: 10, evalInterval: 10 });
    expect(() => resolveTrainingConfig({ epochs: 3 } as object)).toThrow(
      'Cannot use the training config: it has no "epochs"; did you mean "numEpochs"?',
    );
  });
});

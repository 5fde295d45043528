import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { qwen3Architecture } from '../../bench/qwen3.ts';
import { type PPOConfigOptions, resolvePPOConfig } from '../config/ppo-config.ts';
import { cachedTokens, MemoryEstimator, planMemory } from './memory-estimate.ts';

const architecture = qwen3Architecture();

function optionsOf(config: PPOConfigOptions = {}) {
  return { config: resolvePPOConfig(config), promptLengths: [200], rewardModels: 1 };
}

const plan = (limit: number, config?: PPOConfigOptions) =>
  planMemory(architecture, { ...optionsOf(config), limit });

describe('planMemory()', () => {
  it('leaves the config unchanged if it fits', () => {
    const { settings } = plan(64e9);
    expect(settings).toEqual({
      ...{ rolloutPrecision: 'f32', saveActivations: 'matmul', rolloutBatchSize: 4 },
      ...{ keepPasses: true, maxTokensAtOnce: 1024, microBatchSize: undefined },
    });
  });

  it('reduces cached passes, then texts and tokens per pass, then saved values, then precision', () => {
    const many = { batchSize: 16 };
    const passes = plan(plan(64e9, many).estimate.peak - 1, many);
    expect(passes.settings).toMatchObject({ keepPasses: false, maxTokensAtOnce: 1024 });
    const tokens = plan(passes.estimate.peak - 1, many);
    expect(tokens.settings).toMatchObject({ rolloutPrecision: 'f32', saveActivations: 'matmul' });
    expect(tokens.settings.maxTokensAtOnce).toBeLessThan(1024);
    expect(plan(5e9).settings.rolloutPrecision).toBe('int8');
    expect(plan(3.5e9).settings.rolloutPrecision).toBe('f32-feeds');
  });

  it('shares the bytes of an int8 base if a packed copy does not fit', () => {
    const packed = { basePrecision: 'int8', rolloutPrecision: 'int8-packed' } as const;
    const small = {
      maxNewTokens: 1,
      batchSize: 1,
      keepPasses: false,
      saveActivations: 'none',
    } as const;
    const { settings, estimate } = plan(64e9, { ...packed, ...small });
    expect(settings.rolloutPrecision).toBe('int8-packed');
    const { peak } = estimate;
    expect(plan(peak - 1, { ...packed, ...small }).settings.rolloutPrecision).toBe('int8');
  });

  it('never plans above the limit, and a lower limit never needs more', () => {
    let last = Infinity;
    for (let limit = 12e9; limit > 3.3e9; limit -= 1e9) {
      const { estimate } = plan(limit);
      expect(estimate.peak).toBeLessThanOrEqual(limit);
      expect(estimate.peak).toBeLessThanOrEqual(last);
      last = estimate.peak;
    }
  });

  it('throws if nothing fits, and reports the required memory', () => {
    expect(() => plan(1e9)).toThrow(
      /^Cannot fit the run into memory: memory must be at least \d\.\d\d GB, got 1\.00 GB; /,
    );
    const [, least] = /at least (\S+) GB/.exec(String(catchError(() => plan(1e9))))!;
    expect(plan(1e9 * (Number(least) + 0.01)).settings.rolloutPrecision).toBe('f32-feeds');
  });
});

describe('MemoryEstimator', () => {
  it('grows with batch sizes and with what is cached', () => {
    const estimator = new MemoryEstimator(architecture, optionsOf({ batchSize: 32 }));
    const peak = (config: PPOConfigOptions) => estimator.estimate(resolvePPOConfig(config));
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 4000 }), fc.boolean(), (tokens, keepPasses) => {
        const fewer = { keepPasses, maxTokensAtOnce: tokens };
        const more = { ...fewer, maxTokensAtOnce: tokens + 1000 };
        expect(peak(more).update).toBeGreaterThanOrEqual(peak(fewer).update);
        expect(peak({ ...fewer, keepPasses: true }).update).toBeGreaterThanOrEqual(
          peak({ ...fewer, keepPasses: false }).update,
        );
      }),
      { numRuns: 20 },
    );
    expect(peak({ saveActivations: 'none' }).update).toBeLessThan(peak({}).update);
    expect(peak({ rolloutPrecision: 'int8' }).rollout).toBeLessThan(peak({}).rollout);
  });
});

describe('MemoryEstimator with rollouts by a server', () => {
  it('counts the reused passes of the policy over responses, which recomputing logprobs creates', () => {
    const update = (config: PPOConfigOptions) => {
      const options = optionsOf({ keepPasses: true, ...config });
      return new MemoryEstimator(architecture, options).estimate(options.config).update;
    };
    const rollouts = 'vllm:http://host:8000';
    expect(update({ rollouts })).toBeGreaterThan(update({}));
    expect(update({ rollouts, rolloutPrecision: 'int8' })).toBe(
      update({ rolloutPrecision: 'int8' }),
    );
  });

  it('counts no keys and values of prompts below the adapters', () => {
    const update = (config: PPOConfigOptions) => {
      const options = optionsOf({ loraLayers: 4, maxCachedTokens: 1, ...config });
      return new MemoryEstimator(architecture, options).estimate(options.config).update;
    };
    expect(update({ rollouts: 'vllm:http://host:8000' })).toBeLessThan(update({}));
  });
});

describe('cachedTokens()', () => {
  const whole = resolvePPOConfig({ rolloutPrecision: 'int8', maxTokensAtOnce: 100, batchSize: 64 });
  const estimator = new MemoryEstimator(architecture, {
    config: whole,
    promptLengths: [50],
    rewardModels: 1,
  });

  it('is the number of tokens whose tapes fit into the limit', () => {
    const limit = 20e9;
    const tokens = estimator.cachedTokens(limit);
    const none = estimator.estimate({ ...whole, keepPasses: false });
    const all = estimator.estimate({ ...whole, keepPasses: true });
    // 64 prompts of 50 tokens with responses of 50, less the tape of the 100 tokens that run anyway.
    const perToken = (all.update - none.update) / (64 * 100 - 50);
    expect(tokens).toBeCloseTo((limit - none.peak) / perToken, -2);
    expect(estimator.cachedTokens(1e9)).toBe(0);
  });

  it('decides whether passes are reused by default', () => {
    const update = (settings: PPOConfigOptions) =>
      estimator.estimate(resolvePPOConfig({ ...whole, ...settings })).update;
    expect(update({ maxCachedTokens: 6400 })).toBe(update({ keepPasses: true }));
    expect(update({ maxCachedTokens: 6399 })).toBeLessThan(update({ keepPasses: true }));
  });

  it('is the number of the config if there is one', () => {
    const config = resolvePPOConfig({ maxCachedTokens: 77 });
    const base = { architecture, bytes: undefined };
    expect(cachedTokens(base, config)).toBe(77);
    expect(cachedTokens(base, resolvePPOConfig())).toBeGreaterThan(77);
  });
});

describe('MemoryEstimator with an int8 base', () => {
  it('counts a byte per weight, and nothing for int8 rollouts', () => {
    const estimate = (config: PPOConfigOptions) => {
      const options = optionsOf({ rolloutPrecision: 'int8', maxCachedTokens: 1, ...config });
      return new MemoryEstimator(architecture, options).estimate(options.config).update;
    };
    const saved = estimate({}) - estimate({ basePrecision: 'int8' });
    // 596 million weights: three bytes less of each in the base and no copy for rollouts, but float32
    // copies of a layer of 15.7 million in four sessions.
    expect((saved + 4 * 4 * 15.7e6) / 4 / 596e6).toBeCloseTo(1, 2);
  });
});

describe('MemoryEstimator with loraLayers', () => {
  const update = (config: PPOConfigOptions) => {
    const options = optionsOf({ keepPasses: false, advantageEstimator: 'reinforce++', ...config });
    return new MemoryEstimator(architecture, options).estimate(options.config).update;
  };

  it('counts tapes and adapters of adapted layers, and the states below them', () => {
    const { num_hidden_layers: layers, hidden_size } = architecture.config;
    const all = update({});
    const [half, none] = [update({ loraLayers: layers / 2 }), update({ loraLayers: 1 })];
    // The states of 4 prompts of 200 tokens and responses of 50.
    const states = 4 * 1000 * hidden_size;
    const [perHalf, perMost] = [all + states - half, all + states - none];
    expect(perMost / perHalf).toBeCloseTo((layers - 1) / (layers / 2), 6);
    expect(perHalf).toBeGreaterThan(0.1 * all);
  });

  it('counts the value model by its own layers', () => {
    const gae = { advantageEstimator: 'gae' } as const;
    expect(update({ ...gae, loraLayers: 4 })).toBe(
      update({ ...gae, loraLayers: 4, valueLoraLayers: 4 }),
    );
    expect(update({ ...gae, loraLayers: 4 })).toBeLessThan(
      update({ ...gae, loraLayers: 4, valueLoraLayers: 'all' }),
    );
  });
});

function catchError(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('Internal: nothing was thrown');
}

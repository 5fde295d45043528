import { describe, expect, test } from 'vitest';
import { trainTiny } from '../../test/helpers/ppo-run.ts';
import { type PPOConfigOptions, resolvePPOConfig } from '../config/ppo-config.ts';
import { explainToken } from './client/tokens/explain-token.ts';

const short: PPOConfigOptions = {
  maxNewTokens: 5,
  batchSize: 2,
  samplesPerPrompt: 2,
  learningRate: 1e-2,
  valueLearningRate: 1e-2,
  loraR: 4,
  klCoef: 0.2,
};

/** Every line of the token view for every token of a run of two steps; values are not 0 in the second. */
async function linesOfRun(options: PPOConfigOptions) {
  const { events } = await trainTiny({ ...short, ...options }, { maxSteps: 2 });
  const config = resolvePPOConfig({ ...short, ...options });
  return events.flatMap((event) => {
    if (event.type !== 'step') return [];
    return event.tokens.flatMap((columns, i) =>
      columns.ids.flatMap((_, t) => {
        const { lines, afterLast } = explainToken({ columns, config, row: event.samples[i] }, t);
        return [...lines, ...afterLast];
      }),
    );
  });
}

describe('the token arithmetic of a real run', () => {
  test.each<PPOConfigOptions>([
    {},
    { whitenRewards: true },
    { whitenRewards: true, rewardPlacement: 'after-final', whitening: 'unbiased' },
    { whitenRewards: true, rewardPlacement: 'every', scoreNormalization: 'batch' },
    { whitenRewards: true, whitenAdvantages: false, klEstimator: 'k3', missingEosPenalty: 0.5 },
    { whitenRewards: true, advantageEstimator: 'reinforce++' },
  ])('agrees with every recorded number to float32 precision: %o', async (options) => {
    const compared = (await linesOfRun(options)).filter(({ recorded }) => recorded !== undefined);
    const names = new Set(compared.map(({ name }) => name));
    expect([...names]).toEqual(expect.arrayContaining(['KL_t', 'G_t']));
    expect(names.has(options.whitenRewards ? 'r′_t' : 'r_t')).toBe(true);
    expect(names.has(options.whitenAdvantages === false ? 'A_t' : 'A′_t')).toBe(true);
    for (const { name, result, recorded } of compared) {
      const error = Math.abs(result - recorded!) / Math.max(1, Math.abs(recorded!));
      expect(error, `${name}: ${result} against ${recorded}`).toBeLessThan(4e-6);
    }
  });
});

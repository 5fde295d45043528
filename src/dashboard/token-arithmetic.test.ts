import { describe, expect, test } from 'vitest';
import { trainTiny } from '../../test/helpers/ppo-run.ts';
import { type PPOConfigOptions, resolvePPOConfig } from '../config/ppo-config.ts';
import { type ArithmeticLine, formatResult } from './client/tokens/arithmetic.ts';
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

/** Calculates a line from the numbers that the page shows and compares it with the result as shown. */
function expectToAddUp({ name, numbers, result }: ArithmeticLine): void {
  const shown = Number(formatResult(result).replace('−', '-'));
  const calculated = calculate(numbers, name);
  const lastDigit = 1e-5 * Math.max(1, Math.abs(result));
  expect(Math.abs(calculated - shown), `${name} = ${numbers} = ${shown}`).toBeLessThan(lastDigit);
}

/** Evaluates an equation as the page writes it: sums, products and quotients of numbers. */
function calculate(numbers: string, name: string): number {
  const [sum, difference] = numbers.replaceAll('−', '-').split(' = d = ');
  if (name === 'KL_t' && difference !== undefined) {
    // k3 of the difference that the line ends with.
    const d = Number(difference);
    return Math.exp(-d) - 1 + d;
  }
  const product = (text: string) =>
    text
      .split('·')
      .map((factor) => Number(factor.replace(/[()]/g, '')))
      .reduce((all, factor) => all * factor, 1);
  const whitened = /^\((.*)\)\/([\d.e-]+)(?: \+ (.*))?$/.exec(sum!);
  if (whitened !== null) {
    const [, inner, std, mean = '0'] = whitened;
    return calculate(inner!, name) / Number(std) + Number(mean.replace(/[()]/g, ''));
  }
  return sum!
    .split(/ (?=[+-] )/)
    .map((term) =>
      term.startsWith('- ') ? -product(term.slice(2)) : product(term.replace('+ ', '')),
    )
    .reduce((all, term) => all + term, 0);
}

describe('the token arithmetic of a real run', () => {
  test.each<PPOConfigOptions>([
    {},
    { whitenRewards: true },
    { whitenRewards: true, rewardPlacement: 'after-final', whitening: 'unbiased' },
    { whitenRewards: true, rewardPlacement: 'every', scoreNormalization: 'batch' },
    { whitenRewards: true, centerRewards: true },
    { preset: 'specification' },
    { whitenRewards: true, whitenAdvantages: false, klEstimator: 'k3', missingEosPenalty: 0.5 },
    { whitenRewards: true, advantageEstimator: 'reinforce++' },
  ])('agrees with every recorded number to float32 precision: %o', async (options) => {
    const compared = (await linesOfRun(options)).filter(({ recorded }) => recorded !== undefined);
    const names = new Set(compared.map(({ name }) => name));
    expect([...names]).toEqual(expect.arrayContaining(['KL_t', 'G_t']));
    const { whitenRewards, whitenAdvantages } = resolvePPOConfig(options);
    expect(names.has(whitenRewards ? 'r′_t' : 'r_t')).toBe(true);
    expect(names.has(whitenAdvantages ? 'A′_t' : 'A_t')).toBe(true);
    for (const line of compared) expectToAddUp(line);
    for (const { name, result, recorded } of compared) {
      const error = Math.abs(result - recorded!) / Math.max(1, Math.abs(recorded!));
      expect(error, `${name}: ${result} against ${recorded}`).toBeLessThan(4e-6);
    }
  });
});

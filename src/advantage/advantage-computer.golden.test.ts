import { test } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { readTrlGolden, trlCases } from '../../test/helpers/trl-golden.ts';
import { AdvantageComputer } from './advantage-computer.ts';

test.each(trlCases)("computeAdvantages() matches TRL's advantages and returns: %s", (name) => {
  const golden = readTrlGolden(name);
  const { hyperparameters, inputs, outputs, tokens, steps } = golden;
  const { gamma, lam, whiten_rewards: whitenRewards } = hyperparameters;
  const input = {
    ...golden,
    rewards: steps(outputs.rewards_before_whitening),
    values: steps(inputs.values),
  };
  const compute = (whitenAdvantages: boolean) =>
    new AdvantageComputer({
      advantageEstimator: 'gae',
      whitening: 'unbiased',
      gamma,
      lam,
      whitenRewards,
      centerRewards: false,
      whitenAdvantages,
    }).computeAdvantages(input);
  const within = 1e-5;
  const plain = compute(false);
  const before = tokens(outputs.advantages_before_whitening);
  expectClose(plain.advantages, { expected: before, within, label: 'advantages before whitening' });
  const whitened = compute(true);
  const after = tokens(outputs.advantages);
  expectClose(whitened.advantages, { expected: after, within, label: 'advantages' });
  const returns = steps(outputs.returns);
  expectClose(plain.returns, { expected: returns, within, label: 'returns' });
  expectClose(whitened.returns, { expected: returns, within, label: 'returns' });
});

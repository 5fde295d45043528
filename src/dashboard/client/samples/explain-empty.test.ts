import { expect, test } from 'vitest';
import { explainNoComparisons, explainNoSamples } from './explain-empty.tsx';

const counts = { metrics: 0, samples: 0, evaluations: 0, log: 0 };

test.each([
  ['sft', 'completed', {}, /fine-tuning learns from existing texts/],
  ['reward', 'running', {}, /reward model scores texts/],
  ['ppo', 'completed', { logSamples: 0 }, /logSamples is 0/],
  ['ppo', 'running', { logSamples: 8 }, /after the first step/],
  ['ppo', 'failed', { logSamples: 8 }, /ended before its first step/],
] as const)('explainNoSamples() of a %s run that is %s', (kind, status, config, text) => {
  expect(explainNoSamples({ kind, status }, config)).toMatch(text);
});

test.each([
  ['sft', 'completed', {}, 2, /numbers are on the Overview/],
  ['ppo', 'completed', { logSamples: 0 }, 2, /logSamples is 0/],
  ['ppo', 'running', {}, 0, /before the first step/],
  ['ppo', 'completed', {}, 0, /never evaluated/],
] as const)('explainNoComparisons() of a %s run that is %s', (kind, status, config, n, text) => {
  const run = { kind, status, counts: { ...counts, evaluations: n } };
  expect(explainNoComparisons(run, config)).toMatch(text);
});

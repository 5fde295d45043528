import { describe, expect, test } from 'vitest';
import { floats, integers, runGraph } from '../../test/helpers/engine/run-graph.ts';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { readTrlGolden, type TrlGolden, trlCases } from '../../test/helpers/trl-golden.ts';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import { div, grad, gradientName, input, makeGraph, tokenLogprobs } from '../engine/graph/index.ts';
import { PolicyLoss, policyMetrics, policyRatio } from './policy-loss.ts';

const within = 1e-5;

function evaluate({ hyperparameters, inputs, outputs, offsets, tokens }: TrlGolden) {
  const policyLoss = new PolicyLoss({
    ...resolvePPOConfig(),
    clipEpsilon: hyperparameters.cliprange,
  });
  return policyLoss.evaluate({
    offsets,
    newLogprobs: tokens(inputs.new_logprobs),
    oldLogprobs: tokens(inputs.logprobs),
    advantages: tokens(outputs.advantages),
    entropies: tokens(outputs.entropy_per_position),
    refLogprobs: tokens(inputs.ref_logprobs),
    klCoef: hyperparameters.kl_coef,
    tokenCount: offsets.at(-1)!,
    sequenceCount: offsets.length - 1,
  });
}

describe.each(trlCases)("TRL's policy step: %s", (name) => {
  const golden = readTrlGolden(name);
  const { inputs, outputs, tokens } = golden;
  const tokenCount = golden.offsets.at(-1)!;

  test("policyRatio() matches TRL's ratios", () => {
    const [old, expected] = [tokens(inputs.logprobs), tokens(outputs.ratio)];
    const ratios = tokens(inputs.new_logprobs).map((now, t) => policyRatio(now - old[t]!).ratio);
    expectClose(ratios, { expected, within, label: 'ratio' });
  });

  test("evaluate() matches TRL's loss, metrics and gradient", () => {
    const { loss, dLogprobs, sums } = evaluate(golden);
    const means = golden.masked_means_not_in_trl;
    expectClose([loss], { expected: [outputs.pg_loss], within, label: 'pg_loss' });
    const metrics = policyMetrics(sums, tokenCount);
    const expected = {
      'loss/policy_avg': outputs.pg_loss,
      'policy/clipfrac_avg': outputs.pg_clipfrac,
      'policy/approxkl_avg': means.approxkl,
      'policy/entropy_avg': means.entropy,
      'val/ratio': means.ratio_mean,
    };
    for (const [metric, value] of Object.entries(expected)) {
      const actual = metrics[metric as keyof typeof expected];
      expectClose([actual], { expected: [value], within, label: metric });
    }
    const gradient = tokens(outputs.grad_pg_loss_new_logprobs);
    expectClose(dLogprobs, { expected: gradient, within, label: 'dLogprobs' });
  });

  test("its gradient with respect to the logits, at the temperature, matches TRL's", async () => {
    const vocabulary = inputs.new_logits[0]![0]!.length;
    const logits = div(input('logits', ['M', vocabulary]), input('temperature', []));
    const graph = makeGraph({ ...tokenLogprobs(logits, input('tokens', ['M'], 'int32')) });
    const { joint } = grad(graph, { of: ['logprob'], wrt: ['logits'] });
    const results = await runGraph(joint, {
      logits: floats([...golden.rows(inputs.new_logits)], [tokenCount, vocabulary]),
      temperature: floats([golden.hyperparameters.temperature], []),
      tokens: integers([...tokens(inputs.responses)], [tokenCount]),
      [gradientName('logprob')]: floats([...evaluate(golden).dLogprobs], [tokenCount]),
    });
    const compare = (output: string, expected: Float32Array) =>
      expectClose(results[output]!, { expected, within, label: output });
    compare('logprob', tokens(inputs.new_logprobs));
    compare('entropy', tokens(outputs.entropy_per_position));
    compare(gradientName('logits'), golden.rows(outputs.grad_pg_loss_new_logits));
  });
});

test('the goldens clip often where intended, and never in the first update', () => {
  const clipped = (name: (typeof trlCases)[number]) => evaluate(readTrlGolden(name)).sums.clipped;
  expect(clipped('5-much-clipping')).toBeGreaterThan(5);
  expect(clipped('6-first-update-full-length')).toBe(0);
});

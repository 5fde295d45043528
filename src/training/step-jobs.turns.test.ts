import { describe, expect, it } from 'vitest';
import { expectClose } from '../../test/helpers/expect-close.ts';
import { makePpoTrainer } from '../../test/helpers/ppo-trainer-setup.ts';
import {
  concatFloats,
  concatInts,
  lengthsOf,
  offsetsOf,
  splitByOffsets,
} from '../columns/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import type { Experience } from '../experience-buffer/experience.ts';
import { insertObservations } from '../generation/index.ts';
import type { Responses } from '../models/responses.ts';
import { PolicyLoss } from './policy-loss.ts';
import { policyGradients, runPolicy } from './policy-pass.ts';
import { LocalJobs } from './step-jobs.ts';
import { ValueLoss } from './value-loss.ts';

/** The batch that a mask would need: observed tokens are part of the responses. */
function maskedBatch({ sequences, offsets, tokens }: Experience) {
  const sampled = splitByOffsets(tokens, offsets);
  const whole = sequences.map(({ observations }, i) =>
    insertObservations(sampled[i]!, observations),
  );
  const mask = sequences.flatMap(({ observations = [] }, i) => {
    const isSampled = Array.from(sampled[i]!, () => [true]);
    for (const { at, tokens: observed } of observations) {
      isSampled[at]!.unshift(...Array.from(observed, () => false));
    }
    return isSampled.flat();
  });
  const responses: Responses = {
    sequences: sequences.map(({ promptTokens }) => ({ promptTokens })),
    offsets: offsetsOf(whole.map(({ length }) => length)),
    tokens: concatInts(whole),
  };
  return { responses, mask };
}

const select = (column: Float32Array, mask: readonly boolean[]) => column.filter((_, t) => mask[t]);

function scatter(column: Float32Array, mask: readonly boolean[]): Float32Array {
  let next = 0;
  return Float32Array.from(mask, (isSampled) => (isSampled ? column[next++]! : 0));
}

describe('LocalJobs with observations', async () => {
  const { golden, policy, value } = await makePpoTrainer('turns', {}, { layersPerSession: 1 });
  const { experience, config } = golden;
  const [policyLoss, valueLoss] = [new PolicyLoss(config), new ValueLoss(config)];
  const jobs = new LocalJobs({ config, policy, value, policyLoss, valueLoss });
  const { responses, mask } = maskedBatch(experience);
  const options = { temperature: config.temperature, withEntropy: true, save: 'matmul' } as const;

  it('computes the logprobs and entropies of a masked batch', async () => {
    const { head } = await runPolicy(policy, responses, options);
    const scored = await jobs.policyLogprobs({ microBatch: 0, responses: experience });
    expectClose(scored.logprobs, {
      expected: select(head.logprobs, mask),
      within: 1e-5,
      label: 'log π',
    });
    expectClose(scored.entropies, {
      expected: select(head.entropies, mask),
      within: 1e-5,
      label: 'H',
    });
  });

  it('computes the values of a masked batch', async () => {
    const prompts = experience.sequences.map(({ promptTokens }) => promptTokens);
    const whole = await value!.values(prompts, splitByOffsets(responses.tokens, responses.offsets));
    const stateCounts = lengthsOf(experience.stepOffsets);
    const values = await jobs.values({ microBatch: 0, responses: experience, stateCounts });
    const expected = select(concatFloats(whole), mask);
    expectClose(values, { expected, within: 1e-5, label: 'V' });
  });

  it('computes the loss and gradients of a masked batch', async () => {
    const counts = {
      sequenceCount: experience.sequences.length,
      tokenCount: experience.tokens.length,
      stepCount: experience.returns.length,
    };
    const job = { microBatch: 0, experience, counts, klCoef: config.klCoef };
    const { policy: actual } = await jobs.gradients(job);

    const pass = await runPolicy(policy, responses, options);
    const loss = policyLoss.evaluate({
      offsets: experience.offsets,
      oldLogprobs: experience.logprobs,
      refLogprobs: experience.refLogprobs,
      advantages: experience.advantages,
      newLogprobs: select(pass.head.logprobs, mask),
      entropies: select(pass.head.entropies, mask),
      klCoef: config.klCoef,
      ...counts,
    });
    const expected: Record<string, Float32Array> = {};
    const accumulate = (part: NamedArrays) => void Object.assign(expected, part);
    const dLogprobs = scatter(loss.dLogprobs, mask);
    const dEntropies = loss.dEntropies && scatter(loss.dEntropies, mask);
    await policyGradients(pass, { dLogprobs, dEntropies }, accumulate);

    expect(Object.keys(actual.gradients).sort()).toEqual(Object.keys(expected).sort());
    for (const [name, gradient] of Object.entries(expected)) {
      expectClose(actual.gradients[name]!, { expected: gradient, within: 1e-5, label: name });
    }
    for (const [name, sum] of Object.entries(loss.sums)) {
      expect(actual.sums[name as keyof typeof actual.sums], name).toBeCloseTo(sum, 4);
    }
  });
});

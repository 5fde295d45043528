import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PPOConfig } from '../config/ppo-config.ts';
import { microBatches, StepPlan } from './micro-batches.ts';

/** Sequences by prompt, sample, and lengths of prompt and response. */
function responsesOf(rows: readonly (readonly [number, number, number, number])[]) {
  const offsets = new Int32Array(rows.length + 1);
  rows.forEach(([, , , length], i) => {
    offsets[i + 1] = offsets[i]! + length;
  });
  const prompts = new Map(rows.map(([promptIdx, , length]) => [promptIdx, new Int32Array(length)]));
  const sequences = rows.map(([promptIdx, sample]) => ({
    ...{ promptIdx, sample, promptTokens: prompts.get(promptIdx)! },
  }));
  return { sequences, offsets };
}

const split = (rows: Parameters<typeof responsesOf>[0], maxTokensAtOnce: number) =>
  microBatches(responsesOf(rows), { maxTokensAtOnce });

describe('microBatches()', () => {
  it('puts responses to one prompt next to each other, in any input order', () => {
    const shuffled = responsesOf([
      [1, 0, 5, 5],
      [0, 0, 5, 5],
      [1, 1, 5, 5],
    ]);
    const options = { microBatchSize: 2, maxTokensAtOnce: 1 };
    expect(microBatches(shuffled, options)).toEqual([[1, 0], [2]]);
  });

  it('counts a prompt once for the responses that run together', () => {
    // 60 + 20, then 20 more for each sample: 120 in total.
    const rows = [0, 1, 2].map((sample) => [0, sample, 60, 20] as const);
    expect(split(rows, 120)).toEqual([[0, 1, 2]]);
    expect(split(rows, 119)).toEqual([[0, 1], [2]]);
    // The third has a different prompt: 80 + 80.
    const other = [...rows.slice(0, 2), [1, 0, 60, 20] as const];
    expect(split(other, 120)).toEqual([[0, 1], [2]]);
  });

  it('puts every sequence into exactly one micro-batch, independent of the input order', () => {
    const row = fc.record({ prompt: fc.nat(3), length: fc.integer({ min: 1, max: 30 }) });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 12 }), fc.nat(100), (sizes, most) => {
        const rows = sizes.map(
          ({ prompt, length }, i) => [prompt, i, 7 * (prompt + 1), length] as const,
        );
        const parts = split(rows, most);
        expect(parts.flat().sort((a, b) => a - b)).toEqual(rows.map((_, i) => i));
        const backwards = split(rows.toReversed(), most);
        expect(backwards.map((part) => part.map((i) => rows.length - 1 - i))).toEqual(parts);
      }),
    );
  });
});

describe('StepPlan', () => {
  /** Two prompts of 60 tokens: two responses of 20 to the first and one to the second, 180 in total. */
  const responses = responsesOf([
    [0, 0, 60, 20],
    [0, 1, 60, 20],
    [1, 0, 60, 20],
  ]);
  const reuses = (options: Partial<PPOConfig>) =>
    new StepPlan(responses, { maxTokensAtOnce: 120, bufferSampling: 'shuffled', ...options })
      .reusesPasses;

  it('reuses the passes of several micro-batches up to maxCachedTokens, with each prompt once', () => {
    expect(reuses({})).toBe(false);
    expect(reuses({ maxCachedTokens: 179 })).toBe(false);
    expect(reuses({ maxCachedTokens: 180 })).toBe(true);
    expect(reuses({ maxTokensAtOnce: 180 })).toBe(true);
  });

  it('follows keepPasses if it is set', () => {
    expect(reuses({ keepPasses: true })).toBe(true);
    expect(reuses({ keepPasses: false, maxCachedTokens: 1000 })).toBe(false);
  });
});

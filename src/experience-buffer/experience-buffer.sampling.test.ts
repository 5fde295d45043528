import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { numberedExperience } from '../../test/helpers/numbered-experience.ts';
import type { Experience } from './experience.ts';
import { ExperienceBuffer, type ExperienceBufferOptions } from './experience-buffer.ts';

/** A buffer of sequences with prompts of one token and responses of these lengths. */
function bufferOf(lengths: readonly number[], options: ExperienceBufferOptions = {}) {
  const buffer = new ExperienceBuffer(options);
  buffer.store(numberedExperience(lengths.map((tokens) => ({ prompt: 1, tokens }))));
  return buffer;
}

const indicesOf = (batch: Experience) => batch.sequences.map(({ promptIdx }) => promptIdx);
const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);
const ones = (length: number) => Array.from({ length }, () => 1);

/** The batches of one pass; `sizes` are used in turn. */
function samplePass(buffer: ExperienceBuffer, sizes: readonly number[]): number[][] {
  const batches: number[][] = [];
  for (let k = 0; batches.flat().length < buffer.size; k++) {
    batches.push(indicesOf(buffer.sampleBatch(sizes[k % sizes.length]!)));
  }
  return batches;
}

describe('sampleBatch()', () => {
  test.each(['shuffled', 'sequential', 'by-length'] as const)(
    '%s returns every sequence once per pass for any batch sizes',
    (strategy) => {
      const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 });
      const lengths = fc.array(fc.nat(5), { minLength: 1, maxLength: 12 });
      fc.assert(
        fc.property(lengths, sizes, (of, batchSizes) => {
          const buffer = bufferOf(of, { sampling: strategy });
          for (let pass = 0; pass < 3; pass++) {
            expect(sorted(samplePass(buffer, batchSizes).flat())).toEqual(of.map((_, i) => i));
          }
        }),
      );
    },
  );

  test('shuffles every pass differently, and reproducibly by seed', () => {
    const orders = (seed: number) => {
      const buffer = bufferOf(ones(20), { seed });
      return [samplePass(buffer, [6]).flat(), samplePass(buffer, [6]).flat()];
    };
    const [first, second] = orders(5);
    expect(first).not.toEqual(second);
    expect(first).not.toEqual(sorted(first!));
    expect(orders(5)).toEqual([first, second]);
    expect(orders(6)[0]).not.toEqual(first);
  });

  test('sequential returns sequences in order', () => {
    const buffer = bufferOf(ones(5), { sampling: 'sequential' });
    const batches = [1, 2, 3, 4].map(() => indicesOf(buffer.sampleBatch(2)));
    expect(batches).toEqual([[0, 1], [2, 3], [4], [0, 1]]);
  });

  test('by-length batches similar lengths and shuffles the batches', () => {
    const lengths = [9, 1, 8, 2, 7, 3, 6, 4, 5];
    const neighbours = [[1, 2], [3, 4], [5, 6], [7, 8], [9]];
    const orders = [0, 1, 2, 3].map((seed) =>
      samplePass(bufferOf(lengths, { sampling: 'by-length', seed }), [2]).map((batch) =>
        batch.map((i) => lengths[i]!),
      ),
    );
    for (const batches of orders) {
      expect([...batches].sort((a, b) => a[0]! - b[0]!)).toEqual(neighbours);
    }
    expect(new Set(orders.map((batches) => JSON.stringify(batches))).size).toBeGreaterThan(1);
  });

  test('by-length counts prompts, which attention sees too', () => {
    const buffer = new ExperienceBuffer({ sampling: 'by-length' });
    const shapes = [
      { prompt: 9, tokens: 1 },
      { prompt: 1, tokens: 2 },
      { prompt: 1, tokens: 8 },
      { prompt: 2, tokens: 2 },
    ];
    buffer.store(numberedExperience(shapes));
    expect(samplePass(buffer, [2]).map(sorted)).toContainEqual([1, 3]);
  });

  test('uniform samples with replacement and equal probability', () => {
    const buffer = bufferOf(ones(4), { sampling: 'uniform' });
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 100; i++) {
      const batch = indicesOf(buffer.sampleBatch(40));
      expect(batch.length).toBe(40);
      for (const index of batch) counts[index]!++;
    }
    // 4000 samples of probability ¼ have a standard deviation of 27.
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(110);
  });

  test('starts a new pass after a store', () => {
    const buffer = bufferOf(ones(3), { sampling: 'sequential' });
    buffer.sampleBatch(2);
    buffer.store(numberedExperience([{ prompt: 1, tokens: 1 }], { first: 500 }));
    // The earlier prompts are numbered after the new one.
    expect(indicesOf(buffer.sampleBatch(4))).toEqual([1, 2, 3, 0]);
  });

  test('rejects an empty buffer and a size below 1', () => {
    expect(() => new ExperienceBuffer().sampleBatch(1)).toThrow(
      'Cannot sample a batch: the buffer must hold at least one sequence, got none; store an experience first',
    );
    expect(() => bufferOf([1]).sampleBatch(0)).toThrow(
      'Cannot sample a batch: batchSize must be a whole number ≥ 1, got 0',
    );
  });
});

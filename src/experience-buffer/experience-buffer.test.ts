import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  experiences,
  numberedExperience,
  sequenceRecord,
  sequenceRecords,
  sequenceShapes,
} from '../../test/helpers/numbered-experience.ts';
import type { Experience } from './experience.ts';
import { ExperienceBuffer, type ExperienceBufferOptions } from './experience-buffer.ts';
import { byteLengthOf } from './experience-columns.ts';

/** Sequences whose responses have these lengths. */
const ofLengths = (lengths: readonly number[], first = 0) =>
  numberedExperience(
    lengths.map((tokens) => ({ prompt: 1, tokens })),
    { first },
  );

function bufferOf(experience: Experience, options: ExperienceBufferOptions = {}) {
  const buffer = new ExperienceBuffer(options);
  buffer.store(experience);
  return buffer;
}

/** Which sequences a batch holds: indices in one experience that was stored. */
const indicesOf = (batch: Experience) => batch.sequences.map(({ promptIdx }) => promptIdx);

const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);

const epoch = { step: 0, ppoEpoch: 0 };

describe('ExperienceBuffer', () => {
  test('holds every column of what is stored, in order, and counts it', () => {
    const parts = fc.array(sequenceShapes(), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(parts, (all) => {
        const buffer = new ExperienceBuffer({ strategy: 'sequential' });
        const stored = all.map((shapes, k) => numberedExperience(shapes, { first: 1000 * k }));
        for (const experience of stored) buffer.store(experience);
        const records = stored.flatMap(sequenceRecords);
        expect(buffer.size).toBe(records.length);
        expect(buffer.tokenCount).toBe(records.flatMap(({ tokens }) => tokens).length);
        expect(buffer.pairs().length).toBe(buffer.tokenCount);
        if (buffer.size === 0) return;
        const batch = buffer.sampleBatch(buffer.size);
        expect(sequenceRecords(batch)).toEqual(records);
        expect(buffer.byteLength).toBe(byteLengthOf(batch));
      }),
    );
  });

  test('of one small sequence takes the hand-worked 96 bytes', () => {
    expect(bufferOf(numberedExperience([{ prompt: 3, tokens: 2 }])).byteLength).toBe(96);
  });

  test('clear() leaves two offsets of 4 bytes and nothing else', () => {
    const buffer = bufferOf(ofLengths([2, 1]), { capacity: 2 });
    buffer.clear();
    expect([buffer.size, buffer.tokenCount, buffer.byteLength]).toEqual([0, 0, 8]);
    buffer.store(ofLengths([3, 3]));
    expect(buffer.tokenCount).toBe(6);
  });

  test('pairs() reads the numbers of every sequence', () => {
    const experience = ofLengths([2, 1]);
    const pairs = [...bufferOf(experience).pairs()];
    expect(pairs.map(({ advantage }) => advantage)).toEqual([...experience.advantages]);
    expect(pairs.map(({ promptIdx, step }) => [promptIdx, step])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
  });

  test('store() refuses columns that do not fit and keeps what it has', () => {
    const buffer = bufferOf(ofLengths([2]));
    expect(() => buffer.store({ ...ofLengths([2]), kl: new Float32Array(3) })).toThrow(
      'Cannot store an experience: kl must have 2 elements, one for each token, got 3',
    );
    expect(buffer.size).toBe(1);
  });
});

describe('capacity', () => {
  test('refuse: store() says how much room there is and stores nothing', () => {
    const buffer = bufferOf(ofLengths([1, 1, 1]), { capacity: 4 });
    expect(() => buffer.store(ofLengths([1, 1]))).toThrow(
      'Cannot store an experience: the buffer must have room for its 2 sequences, got 3 of 4 places taken; clear it, raise its capacity or let overflow be drop-oldest',
    );
    expect(buffer.size).toBe(3);
    buffer.store(ofLengths([1]));
    expect(buffer.size).toBe(4);
  });

  test('drop-oldest: the newest sequences stay, whole', () => {
    const parts = fc.array(sequenceShapes(), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 12 }), (all, capacity) => {
        const buffer = new ExperienceBuffer({ capacity, overflow: 'drop-oldest' });
        const stored = all.map((shapes, k) => numberedExperience(shapes, { first: 1000 * k }));
        for (const experience of stored) buffer.store(experience);
        const newest = stored.flatMap(sequenceRecords).slice(-capacity);
        const [kept] = buffer.miniBatches(capacity, { ...epoch, strategy: 'sequential' });
        expect(kept ? sequenceRecords(kept) : []).toEqual(newest);
      }),
    );
  });

  test.each([0, -1, 1.5, Number.NaN])('a capacity of %d is refused', (capacity) => {
    expect(() => new ExperienceBuffer({ capacity })).toThrow(
      `Cannot make an experience buffer: capacity must be a whole number ≥ 1, got ${capacity}`,
    );
  });
});

describe('miniBatches()', () => {
  const strategies = fc.constantFrom('shuffled', 'sequential', 'by-length' as const);

  test('miniBatches() gives every sequence once, whole, in batches of which one may be smaller', () => {
    const sizes = fc.integer({ min: 1, max: 10 });
    fc.assert(
      fc.property(
        experiences(),
        sizes,
        strategies,
        fc.nat(),
        (experience, size, strategy, seed) => {
          const buffer = bufferOf(experience, { seed });
          const batches = [...buffer.miniBatches(size, { ...epoch, strategy })];
          const order = batches.flatMap(indicesOf);
          expect(sorted(order)).toEqual(experience.sequences.map((_, i) => i));
          expect(batches.flatMap(sequenceRecords)).toEqual(
            order.map((i) => sequenceRecord(experience, i)),
          );
          expect(batches.length).toBe(Math.ceil(order.length / size));
          expect(batches.filter(({ sequences }) => sequences.length < size).length).toBeLessThan(2);
        },
      ),
    );
  });

  test('miniBatches() in an order that depends on seed, step and epoch alone', () => {
    const experience = ofLengths(Array.from({ length: 20 }, () => 1));
    const order = (seed: number, step: number, ppoEpoch: number) => {
      const buffer = bufferOf(experience, { seed });
      buffer.sampleBatch(3);
      return [...buffer.miniBatches(6, { step, ppoEpoch })].flatMap(indicesOf);
    };
    const once = order(1, 2, 3);
    const again = [...bufferOf(experience, { seed: 1 }).miniBatches(6, { step: 2, ppoEpoch: 3 })];
    expect(again.flatMap(indicesOf)).toEqual(once);
    const others = [order(0, 2, 3), order(1, 0, 3), order(1, 2, 0), order(1, 3, 2)];
    for (const other of others) expect(other).not.toEqual(once);
    expect(once).not.toEqual(sorted(once));
  });

  test('miniBatches() of an empty buffer are none', () => {
    expect([...new ExperienceBuffer().miniBatches(2, epoch)]).toEqual([]);
  });

  test('miniBatches() goes on with what it began with when the buffer changes', () => {
    const buffer = bufferOf(ofLengths([1, 2, 3]));
    const order: number[] = [];
    for (const batch of buffer.miniBatches(1, epoch)) {
      order.push(...indicesOf(batch));
      buffer.clear();
    }
    expect(sorted(order)).toEqual([0, 1, 2]);
  });

  test.each([0, -2, 1.5])('miniBatches() refuses a size of %d at once', (size) => {
    expect(() => bufferOf(ofLengths([1])).miniBatches(size, epoch)).toThrow(
      `Cannot cut minibatches: size must be a whole number ≥ 1, got ${size}`,
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  experiences,
  numberedExperience,
  sequenceRecord,
  sequenceRecords,
  sequenceShapes,
} from '../../test/helpers/numbered-experience.ts';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import { byteLengthOf, type Experience } from './experience.ts';
import { ExperienceBuffer, type ExperienceBufferOptions } from './experience-buffer.ts';

/** An experience whose responses have these lengths. */
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

/** Which sequences a batch contains: their indices in the one stored experience. */
const indicesOf = (batch: Experience) => batch.sequences.map(({ promptIdx }) => promptIdx);

/** Records of stored experiences: earlier prompts are numbered after those of later stores. */
function expectedRecords(stored: readonly Experience[]) {
  return stored.flatMap((experience, k) => {
    const later = stored.slice(k + 1).reduce((sum, { sequences }) => sum + sequences.length, 0);
    return sequenceRecords(experience).map((record) => ({
      ...record,
      sequence: { ...record.sequence!, promptIdx: record.sequence!.promptIdx + later },
    }));
  });
}

const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);

const epoch = { step: 0, ppoEpoch: 0 };

describe('ExperienceBuffer', () => {
  test('keeps every column of what is stored, in order', () => {
    const parts = fc.array(sequenceShapes(), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(parts, (all) => {
        const buffer = new ExperienceBuffer({ sampling: 'sequential' });
        const stored = all.map((shapes, k) => numberedExperience(shapes, { first: 1000 * k }));
        for (const experience of stored) buffer.store(experience);
        const records = expectedRecords(stored);
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

  test('with one small sequence takes 96 bytes', () => {
    expect(bufferOf(numberedExperience([{ prompt: 3, tokens: 2 }])).byteLength).toBe(96);
  });

  test('clear() leaves only two offsets of 4 bytes', () => {
    const buffer = bufferOf(ofLengths([2, 1]), { capacity: 2 });
    buffer.clear();
    expect([buffer.size, buffer.tokenCount, buffer.byteLength]).toEqual([0, 0, 8]);
    buffer.store(ofLengths([3, 3]));
    expect(buffer.tokenCount).toBe(6);
  });

  test('pairs() returns the pairs of every sequence', () => {
    const experience = ofLengths([2, 1]);
    const pairs = [...bufferOf(experience).pairs()];
    expect(pairs.map(({ advantage }) => advantage)).toEqual([...experience.advantages]);
    expect(pairs.map(({ promptIdx, step }) => [promptIdx, step])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
  });

  test('store() rejects inconsistent columns and keeps its contents', () => {
    const buffer = bufferOf(ofLengths([2]));
    expect(() => buffer.store({ ...ofLengths([2]), kl: new Float32Array(3) })).toThrow(
      'Cannot store an experience: kl must have 2 elements, one per token, got 3',
    );
    expect(buffer.size).toBe(1);
  });
});

describe('capacity', () => {
  test('refuse: store() reports the free capacity and stores nothing', () => {
    const buffer = bufferOf(ofLengths([1, 1, 1]), { capacity: 4 });
    expect(() => buffer.store(ofLengths([1, 1]))).toThrow(
      'Cannot store an experience: the buffer must have room for 2 sequences, got 3 of 4 in use; clear it, raise its capacity (bufferCapacity) or set overflow (bufferOverflow) to drop-oldest',
    );
    expect(buffer.size).toBe(3);
    buffer.store(ofLengths([1]));
    expect(buffer.size).toBe(4);
  });

  test('drop-oldest: store() keeps the newest whole sequences', () => {
    const parts = fc.array(sequenceShapes(), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 12 }), (all, capacity) => {
        const buffer = new ExperienceBuffer({
          ...{ capacity, overflow: 'drop-oldest', sampling: 'sequential' },
        });
        const stored = all.map((shapes, k) => numberedExperience(shapes, { first: 1000 * k }));
        for (const experience of stored) buffer.store(experience);
        const newest = expectedRecords(stored).slice(-capacity);
        const [batch] = buffer.miniBatches(capacity, epoch);
        expect(batch ? sequenceRecords(batch) : []).toEqual(newest);
      }),
    );
  });

  test.each([0, -1, 1.5, Number.NaN])('a capacity of %d is rejected', (capacity) => {
    expect(() => new ExperienceBuffer({ capacity })).toThrow(
      `Cannot create an experience buffer: capacity must be a whole number ≥ 1, got ${capacity}`,
    );
  });
});

describe('miniBatches()', () => {
  const strategies = fc.constantFrom('shuffled', 'sequential', 'by-length');

  test('contain every sequence once; at most one batch is smaller', () => {
    const sizes = fc.integer({ min: 1, max: 10 });
    fc.assert(
      fc.property(
        experiences(),
        sizes,
        strategies,
        fc.nat(),
        (experience, size, sampling, seed) => {
          const buffer = bufferOf(experience, { seed, sampling });
          const batches = [...buffer.miniBatches(size, epoch)];
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

  test('are in an order that depends on seed, step and epoch only', () => {
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

  test('are none if the buffer is empty', () => {
    expect([...new ExperienceBuffer().miniBatches(2, epoch)]).toEqual([]);
  });

  test('do not change if the buffer changes while they are read', () => {
    const buffer = bufferOf(ofLengths([1, 2, 3]));
    const order: number[] = [];
    for (const batch of buffer.miniBatches(1, epoch)) {
      order.push(...indicesOf(batch));
      buffer.clear();
    }
    expect(sorted(order)).toEqual([0, 1, 2]);
  });

  test.each([0, -2, 1.5])('reject a size of %d before the first batch', (size) => {
    expect(() => bufferOf(ofLengths([1])).miniBatches(size, epoch)).toThrow(
      `Cannot create minibatches: size must be a whole number ≥ 1, got ${size}`,
    );
  });

  test('uniform samples as many sequences as the buffer holds, with replacement', () => {
    const buffer = bufferOf(ofLengths(Array.from({ length: 20 }, () => 1)), {
      sampling: 'uniform',
    });
    const batches = [...buffer.miniBatches(6, epoch)].map(indicesOf);
    expect(batches.map(({ length }) => length)).toEqual([6, 6, 6, 2]);
    expect(new Set(batches.flat()).size).toBeLessThan(20);
    expect([...buffer.miniBatches(6, epoch)].map(indicesOf)).toEqual(batches);
    expect([...buffer.miniBatches(6, { ...epoch, ppoEpoch: 1 })].map(indicesOf)).not.toEqual(
      batches,
    );
  });
});

describe('forConfig()', () => {
  const config = resolvePPOConfig({ seed: 3, batchSize: 2, samplesPerPrompt: 2 });
  const stepOf = (first: number) => ofLengths([1, 1, 1, 1], first);
  const tokensIn = (buffer: ExperienceBuffer) =>
    sorted([...buffer.miniBatches(99, epoch)].flatMap(({ tokens }) => [...tokens]));
  const tokensOf = (...experiences: Experience[]) =>
    experiences.flatMap(({ tokens }) => [...tokens]);

  test('holds the responses of one step by default, shuffled', () => {
    const buffer = ExperienceBuffer.forConfig(config);
    const plain = bufferOf(stepOf(0), { seed: 3 });
    buffer.store(stepOf(0));
    const batches = (of: ExperienceBuffer) => [...of.miniBatches(3, { step: 5, ppoEpoch: 1 })];
    expect(batches(buffer)).toEqual(batches(plain));
    buffer.endStep();
    expect(buffer.size).toBe(0);
    buffer.store(stepOf(1000));
    expect(tokensIn(buffer)).toEqual(tokensOf(stepOf(1000)));
  });

  test('reuses the newest responses of earlier steps up to bufferCapacity', () => {
    const buffer = ExperienceBuffer.forConfig({ ...config, bufferCapacity: 6 });
    const sizes: number[] = [];
    for (const step of [0, 1, 2]) {
      buffer.store(stepOf(1000 * step));
      sizes.push(buffer.size);
      expect(ExperienceBuffer.sizeAt(step, { ...config, bufferCapacity: 6 })).toBe(buffer.size);
      buffer.endStep();
    }
    expect(sizes).toEqual([4, 6, 6]);
    expect(tokensIn(buffer)).toEqual([
      ...tokensOf(stepOf(1000)).slice(2),
      ...tokensOf(stepOf(2000)),
    ]);
  });

  test('starts over when it is full if bufferOverflow is clear', () => {
    const clearing = { ...config, bufferCapacity: 10, bufferOverflow: 'clear' } as const;
    const buffer = ExperienceBuffer.forConfig(clearing);
    const sizes = [0, 1, 2, 3, 4].map((step) => {
      buffer.store(stepOf(1000 * step));
      buffer.endStep();
      expect(ExperienceBuffer.sizeAt(step, clearing)).toBe(buffer.size);
      return buffer.size;
    });
    expect(sizes).toEqual([4, 8, 4, 8, 4]);
    expect(tokensIn(buffer)).toEqual(tokensOf(stepOf(4000)));
  });

  test('rejects more than its capacity if bufferOverflow is refuse', () => {
    const buffer = ExperienceBuffer.forConfig({
      ...{ ...config, bufferCapacity: 6, bufferOverflow: 'refuse' },
    });
    buffer.store(stepOf(0));
    buffer.endStep();
    expect(() => buffer.store(stepOf(1000))).toThrow('got 4 of 6 in use');
    expect(tokensIn(buffer)).toEqual(tokensOf(stepOf(0)));
  });

  test('numbers prompts of several steps without a collision; the newest keep theirs', () => {
    const buffer = ExperienceBuffer.forConfig({
      ...{ ...config, bufferCapacity: 12, bufferSampling: 'sequential' },
    });
    for (const step of [0, 1, 2]) buffer.store(stepOf(1000 * step));
    const [all] = buffer.miniBatches(99, epoch);
    expect(indicesOf(all!)).toEqual([8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]);
  });

  test('uses bufferSampling', () => {
    const buffer = ExperienceBuffer.forConfig({ ...config, bufferSampling: 'sequential' });
    buffer.store(stepOf(0));
    expect([...buffer.miniBatches(3, epoch)].map(indicesOf)).toEqual([[0, 1, 2], [3]]);
  });

  test('rejects a capacity below the responses of a step', () => {
    expect(() => ExperienceBuffer.forConfig({ ...config, bufferCapacity: 3 })).toThrow(
      'Cannot create an experience buffer: bufferCapacity must be at least batchSize × samplesPerPrompt (4), got 3',
    );
  });
});

describe('contents', () => {
  test('snapshot() restores the contents after a failed step', () => {
    const buffer = bufferOf(ofLengths([1, 2]));
    const before = buffer.state();
    const restore = buffer.snapshot();
    buffer.store(ofLengths([3], 50));
    restore();
    expect(buffer.state()).toEqual(before);
  });

  test('restore() continues with the same batches as the saved buffer', () => {
    const buffer = bufferOf(ofLengths([1, 2, 3]), { seed: 1 });
    const resumed = new ExperienceBuffer({ seed: 1 });
    resumed.restore(JSON.parse(JSON.stringify(buffer.state())));
    expect([...resumed.miniBatches(2, epoch)]).toEqual([...buffer.miniBatches(2, epoch)]);
  });
});

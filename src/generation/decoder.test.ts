import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  relativeDifference,
  rootMeanSquare,
  standardDeviation,
} from '../../test/helpers/model-difference.ts';
import { fixtureFolder, useModel } from '../../test/helpers/model-fixtures.ts';
import {
  decodeTokens,
  forward,
  makeDecoder,
  rowsOf,
  sampleIds,
} from '../../test/helpers/model-runs.ts';
import { byteLimit, countSessions } from '../engine/runtime/index.ts';
import { createModel } from '../models/decoder/create-model.ts';
import { readArchitecture } from '../models/decoder/families/index.ts';

import { Decoder } from './decoder.ts';
import { KvCache } from './kv-cache.ts';
import { Sampler } from './sampler/sampler.ts';

describe('sums of a large vocabulary', () => {
  // Not a multiple of the blocks' length.
  const base = createModel(
    readArchitecture({
      model_type: 'llama',
      vocab_size: 2 ** 14 + 37,
      hidden_size: 8,
      intermediate_size: 8,
      num_hidden_layers: 1,
      num_attention_heads: 1,
    }),
  );
  afterAll(() => base.dispose());

  test.each([1, 0.02, Number.MIN_VALUE])(
    'select the same tokens as logits at temperature %d',
    async (temperature) => {
      const { decoder, cache } = await makeDecoder(base, { slots: 3 });
      await decoder.prefill([[1, 2], [3], [4, 5, 6]], { slots: [0, 1, 2], cache });
      const { logits, sumsOf } = await decoder.step(Int32Array.of(7, 8, 9), cache, temperature);
      const sampler = new Sampler({ temperature });
      for (let row = 0; row < 3; row++) {
        const scores = logits.data.slice(row * logits.shape[1]!, (row + 1) * logits.shape[1]!);
        for (const uniform of [0, 0.1234, 0.5, 0.987, 1 - 2 ** -53]) {
          const plain = sampler.sample(scores, { uniform });
          const summed = sampler.sample(scores, { uniform, sums: sumsOf(row) });
          expect(summed.token).toBe(plain.token);
          expect(summed.logprob).toBeCloseTo(plain.logprob, 5);
        }
      }
      await decoder.dispose();
    },
  );

  test('are missing for a small vocabulary', async () => {
    const small = createModel(readArchitecture({ ...base.architecture.config, vocab_size: 50 }));
    const { decoder, cache } = await makeDecoder(small, { slots: 1 });
    await decoder.prefill([[1, 2]], { slots: [0], cache });
    const { sumsOf } = await decoder.step(Int32Array.of(3), cache);
    expect(sumsOf(0)).toBeUndefined();
    await decoder.dispose();
    await small.dispose();
  });
});

describe('Decoder', () => {
  const model = useModel(fixtureFolder('llama-gqa'));

  test('continues past 64 and 128 tokens', async () => {
    const ids = sampleIds(model.base, 140, 1);
    const [whole = []] = await forward(model.base, [ids]);
    const run = await makeDecoder(model.base);
    await run.decoder.prefill([ids.slice(0, 60)], { slots: [0], cache: run.cache });
    const [stepped = []] = await decodeTokens(run, [ids.slice(60)]);
    expect(relativeDifference(stepped, whole.slice(60))).toBeLessThan(1e-5);
  });

  test('prefills any slots in any order', async () => {
    const prompts = [
      sampleIds(model.base, 9, 2),
      sampleIds(model.base, 4, 3),
      sampleIds(model.base, 6, 4),
    ];
    const run = await makeDecoder(model.base, { slots: 3 });
    const { logits } = await run.decoder.prefill(prompts, { slots: [2, 0, 1], cache: run.cache });
    const rows = rowsOf(logits);
    expect([...run.cache.lengths]).toEqual([4, 6, 9]);
    const wholes = await forward(
      model.base,
      prompts.map((prompt) => [...prompt, 11]),
    );
    const stepped = await decodeTokens(run, [[11], [11], [11]]);
    for (const [i, slot] of [2, 0, 1].entries()) {
      expect(relativeDifference([rows[i] ?? []], wholes[i]?.slice(-2, -1) ?? [])).toBeLessThan(
        1e-5,
      );
      expect(relativeDifference(stepped[slot] ?? [], wholes[i]?.slice(-1) ?? [])).toBeLessThan(
        1e-5,
      );
    }
  });

  describe('with texts that enter and leave the batch', () => {
    const SLOTS = 3;
    interface Batch {
      readonly decoder: Decoder;
      readonly cache: KvCache;
      readonly texts: number[][];
    }
    type Event = (batch: Batch, seed: number) => Promise<void>;
    const prompt = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 60, max: 66 }));
    const enters = prompt.map(
      (length): Event =>
        async ({ decoder, cache, texts }, seed) => {
          if (texts.length === SLOTS) return;
          const ids = sampleIds(model.base, length, seed);
          await decoder.prefill([ids], { slots: [texts.length], cache });
          texts.push(ids);
        },
    );
    const leaves = fc.nat(SLOTS - 1).map(
      (place): Event =>
        async ({ cache, texts }) => {
          if (place >= texts.length) return;
          // The last text moves to the free slot.
          cache.copy(texts.length - 1, place);
          texts[place] = texts.at(-1) ?? [];
          texts.pop();
        },
    );
    const step: Event = async ({ decoder, cache, texts }, seed) => {
      if (texts.length === 0) return;
      const tokens = texts.map((_, slot) => (7 * seed + slot) % 96);
      for (const [slot, id] of tokens.entries()) texts[slot]?.push(id);
      const rows = rowsOf((await decoder.step(Int32Array.from(tokens), cache)).logits);
      const wholes = await forward(model.base, texts);
      const last = wholes.map((whole) => whole.at(-1) ?? []);
      expect(relativeDifference(rows, last)).toBeLessThan(1e-5);
    };

    test('a text has the logits of a whole forward pass', async () => {
      const event = fc.oneof(
        { weight: 2, arbitrary: enters },
        { weight: 1, arbitrary: leaves },
        { weight: 3, arbitrary: fc.constant(step) },
      );
      const { decoder } = await makeDecoder(model.base);
      await fc.assert(
        fc.asyncProperty(fc.array(event, { minLength: 4, maxLength: 25 }), async (events) => {
          const cache = new KvCache(model.base.architecture.config, SLOTS);
          const batch: Batch = { decoder, cache, texts: [] };
          for (const [seed, run] of events.entries()) await run(batch, seed);
        }),
        { numRuns: 25 },
      );
    });
  });

  test('dispose() frees its session', async () => {
    const before = countSessions();
    const decoder = await Decoder.create(model.base);
    expect(countSessions()).toBe(before + 1);
    await decoder.dispose();
    expect(countSessions()).toBe(before);
  });
});

// Measured with 8-bit weights: 4.1, 5.0, 2.8 and 2.2 % of the standard deviation. Processors without
// 8-bit dot products quantize rows to 7 bits, which doubles their rounding steps.
describe.each([
  ['llama-gqa', 0.06],
  ['qwen2-untied', 0.06],
  ['qwen3-untied', 0.06],
  ['gpt2-default', 0.03],
])('int8 of %s', (name, bound) => {
  const model = useModel(fixtureFolder(name));

  test('has logits close to those of f32', async () => {
    const ids = sampleIds(model.base, 70, 5);
    const [whole = []] = await forward(model.base, [ids]);
    const run = await makeDecoder(model.base, { precision: 'int8' });
    await run.decoder.prefill([ids.slice(0, 6)], { slots: [0], cache: run.cache });
    const [stepped = []] = await decodeTokens(run, [ids.slice(6)]);
    const error = rootMeanSquare(stepped, whole.slice(6)) / standardDeviation(whole.slice(6));
    expect(error).toBeLessThan((bound * 127) / (await byteLimit()));
    // Quantization has an effect.
    expect(error).toBeGreaterThan(bound / 10);
  });
});

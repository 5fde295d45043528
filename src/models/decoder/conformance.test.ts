import { describe, expect, test } from 'vitest';
import { largestDifference, relativeDifference } from '../../../test/helpers/model-difference.ts';
import {
  fixtureCases,
  fixtureFolder,
  type GoldenSequence,
  readGolden,
  roundingOf,
  useModel,
} from '../../../test/helpers/model-fixtures.ts';
import { mergeByHand } from '../../../test/helpers/model-merge.ts';
import {
  decodeGreedily,
  decodeTokens,
  forward,
  makeAdapter,
  makeDecoder,
  rowsOf,
  sampleIds,
} from '../../../test/helpers/model-runs.ts';
import { LoraAdapter } from '../../base-setup/lora/lora-adapter.ts';
import type { LoraConfig } from '../../base-setup/lora/lora-config.ts';
import { openSafetensors } from '../../base-setup/safetensors/open-weights.ts';

import type { Tokenizer } from '../../base-setup/tokenizer/index.ts';
import { RewardModel } from '../reward-model.ts';
import { ValueModel } from '../value-model.ts';
import { readArchitecture } from './families/index.ts';
import { forward as runLayers } from './forward.ts';
import { PackedBatch } from './packed-batch.ts';
import { takeRows } from './rows.ts';
import { weightShapes } from './weight-shapes.ts';

const lora: LoraConfig = { r: 3, lora_alpha: 6 };

/** Runs for every family and config, at every precision of the base: what every model must do. */
describe.each(fixtureCases)('$name in $precision', ({ name, precision: basePrecision }) => {
  const model = useModel(fixtureFolder(name), basePrecision);
  /** Tests that compare with numbers of the original weights. */
  const withOriginalWeights = (title: string, tests: () => void) => {
    if (basePrecision === 'f32') describe(title, tests);
  };
  const golden = readGolden(name);
  const long = golden.sequences.at(-1) as GoldenSequence;
  const ragged = (seed: number) =>
    [5, 1, 12, 66, 3].map((length) => sampleIds(model.base, length, seed));

  withOriginalWeights('against transformers', () => {
    test('logits are equal', async () => {
      const all = await forward(
        model.base,
        golden.sequences.map(({ ids }) => ids),
      );
      for (const [i, { rows, logits }] of golden.sequences.entries()) {
        const ours = rows.map((row) => all[i]?.[row] ?? []);
        expect(largestDifference(ours, logits)).toBeLessThan(1e-4);
      }
    });

    test('logprobs and entropies are equal at temperatures 1 and 0.7', async () => {
      for (const { ids, at } of golden.sequences) {
        const { hidden } = await runLayers(model, new PackedBatch([ids]));
        // The last token has no successor; its entropy still counts.
        const next = Int32Array.from([...ids.slice(1), 0]);
        expect(at.map(({ temperature }) => temperature)).toEqual([1, 0.7]);
        for (const { temperature, logprobs, entropies } of at) {
          const ours = await model.base.logprobs(hidden, next, temperature);
          const ourLogprobs = ours.logprobs.slice(0, -1);
          expect(largestDifference([ourLogprobs], [logprobs])).toBeLessThan(1e-4);
          expect(largestDifference([ours.entropies], [entropies])).toBeLessThan(1e-4);
        }
      }
    });

    test.each(['f32', 'f32-feeds'] as const)(
      '64 greedy tokens are equal in %s',
      async (precision) => {
        const run = await makeDecoder(model.base, { slots: golden.greedy.length, precision });
        const prompts = golden.greedy.map(({ prompt }) => prompt);
        const ids = await decodeGreedily(run, prompts, 64);
        expect(ids).toEqual(golden.greedy.map(({ ids }) => ids));
      },
    );
  });

  describe('with a cache', () => {
    test.each(['f32', 'f32-feeds'] as const)(
      'tokens that run one by one have the logits of the whole sequence in %s',
      async (precision) => {
        const [whole = []] = await forward(model.base, [long.ids]);
        const run = await makeDecoder(model.base, { precision });
        const { logits: prefilled } = await run.decoder.prefill([long.ids.slice(0, 5)], {
          slots: [0],
          cache: run.cache,
        });
        const [stepped = []] = await decodeTokens(run, [long.ids.slice(5)]);
        const cached = [...rowsOf(prefilled), ...stepped];
        expect(relativeDifference(cached, whole.slice(4))).toBeLessThan(roundingOf(model.base));
      },
    );

    test('a text that leaves its slot for a turn of its environment continues where it was', async () => {
      const [whole = []] = await forward(model.base, [long.ids]);
      const run = await makeDecoder(model.base, { slots: 2 });
      const prompts = [long.ids.slice(0, 5), sampleIds(model.base, 9, 1)];
      const { cache } = run;
      await run.decoder.prefill(prompts, { slots: [0, 1], cache });
      await decodeTokens(run, [long.ids.slice(5, 8), sampleIds(model.base, 3, 2)]);
      const saved = cache.save(0, Infinity)!;
      await run.decoder.prefill([sampleIds(model.base, 70, 3)], { slots: [0], cache });
      cache.restore(0, saved);
      const [continued = []] = await decodeTokens(run, [long.ids.slice(8)]);
      expect(relativeDifference(continued, whole.slice(8))).toBeLessThan(roundingOf(model.base));
    });

    test('slots of different lengths decode as each does alone', async () => {
      const prompts = ragged(1);
      const tokens = prompts.map((_, slot) => sampleIds(model.base, 8, slot));
      const together = await makeDecoder(model.base, { slots: prompts.length });
      await together.decoder.prefill(prompts, {
        slots: prompts.map((_, slot) => slot),
        cache: together.cache,
      });
      const batched = await decodeTokens(together, tokens);
      for (const [slot, prompt] of prompts.entries()) {
        const alone = await makeDecoder(model.base);
        await alone.decoder.prefill([prompt], { slots: [0], cache: alone.cache });
        const [single = []] = await decodeTokens(alone, [tokens[slot] ?? []]);
        expect(relativeDifference(batched[slot] ?? [], single)).toBeLessThan(
          roundingOf(model.base),
        );
      }
    });

    test('a slot does not see an earlier, longer text', async () => {
      const [longer, shorter] = [sampleIds(model.base, 60, 2), sampleIds(model.base, 7, 3)];
      const [whole = []] = await forward(model.base, [shorter]);
      const run = await makeDecoder(model.base, { slots: 2 });
      await run.decoder.prefill([longer, longer], { slots: [0, 1], cache: run.cache });
      await run.decoder.prefill([shorter.slice(0, 4)], { slots: [0], cache: run.cache });
      const [stepped = []] = await decodeTokens(run, [shorter.slice(4)]);
      expect(relativeDifference(stepped, whole.slice(4))).toBeLessThan(roundingOf(model.base));
    });

    test('a copied slot continues like its original, which is unchanged', async () => {
      const [copied, other] = [sampleIds(model.base, 20, 4), sampleIds(model.base, 33, 5)];
      const [left, right] = [sampleIds(model.base, 6, 6), sampleIds(model.base, 6, 7)];
      const run = await makeDecoder(model.base, { slots: 3 });
      await run.decoder.prefill([other, copied, other], { slots: [0, 1, 2], cache: run.cache });
      run.cache.copy(1, 0);
      const stepped = await decodeTokens(run, [left, right]);
      for (const [slot, tail] of [left, right].entries()) {
        const [whole = []] = await forward(model.base, [[...copied, ...tail]]);
        expect(relativeDifference(stepped[slot] ?? [], whole.slice(20))).toBeLessThan(
          roundingOf(model.base),
        );
      }
    });
  });

  describe('without padding', () => {
    test('sequences of different lengths have the logits that each has alone', async () => {
      const sequences = ragged(8);
      const together = await forward(model.base, sequences);
      for (const [i, sequence] of sequences.entries()) {
        const [alone = []] = await forward(model.base, [sequence]);
        expect(relativeDifference(together[i] ?? [], alone)).toBeLessThan(roundingOf(model.base));
      }
    });

    test('a token changes no earlier logits, but its own and later ones', async () => {
      const changed = [...long.ids];
      changed[40] = ((long.ids[40] ?? 0) + 1) % 96;
      const [before = [], after = []] = await forward(model.base, [long.ids, changed]);
      expect(relativeDifference(after.slice(0, 40), before.slice(0, 40))).toBeLessThan(
        roundingOf(model.base),
      );
      expect(largestDifference(after.slice(40, 41), before.slice(40, 41))).toBeGreaterThan(0.1);
      expect(largestDifference(after.slice(69), before.slice(69))).toBeGreaterThan(1e-3);
    });
  });

  describe('with an adapter', () => {
    test('that is untrained, logits are unchanged', async () => {
      const adapter = LoraAdapter.create(lora, model.base.modules());
      const plain = await forward(model.base, [long.ids]);
      const adapted = await forward(model.base, [long.ids], adapter);
      expect(relativeDifference(adapted[0] ?? [], plain[0] ?? [])).toBeLessThan(1e-6);
      const run = await makeDecoder(model.base, { adapter });
      const { logits: prefilled } = await run.decoder.prefill([long.ids.slice(0, 4)], {
        slots: [0],
        cache: run.cache,
      });
      const [stepped = []] = await decodeTokens(run, [long.ids.slice(4, 12)]);
      const cached = [...rowsOf(prefilled), ...stepped];
      expect(relativeDifference(cached, plain[0]?.slice(3, 12) ?? [])).toBeLessThan(
        roundingOf(model.base),
      );
    });

    test('that changes in place, the next step uses the change', async () => {
      const adapter = makeAdapter(model.base, lora, 2);
      const { decoder, cache } = await makeDecoder(model.base, { adapter, slots: 2 });
      await decoder.prefill([long.ids.slice(0, 9)], { slots: [0], cache });
      cache.copy(0, 1);
      const token = Int32Array.of(long.ids[9] ?? 0);
      const [before = []] = rowsOf((await decoder.step(token, cache)).logits);
      cache.copy(1, 0);
      for (const { data } of adapter.weights.values()) data.fill(0);
      const [after = []] = rowsOf((await decoder.step(token, cache)).logits);
      cache.copy(1, 0);
      const plain = await makeDecoder(model.base, { slots: 1 });
      const [expected = []] = rowsOf((await plain.decoder.step(token, cache)).logits);
      expect(largestDifference([after], [before])).toBeGreaterThan(0.1);
      expect(relativeDifference([after], [expected])).toBeLessThan(roundingOf(model.base));
    });
  });

  withOriginalWeights('with a merged adapter', () => {
    test.each([
      ['all modules', lora],
      ['some modules', { ...lora, target_modules: ['v_proj', 'down_proj', 'c_attn'] }],
    ] as const)('on %s, logits are those of W + scaling·B·A', async (_, config) => {
      const adapter = makeAdapter(model.base, config);
      const merged = mergeByHand(model.base, adapter);
      const sequences = [long.ids.slice(0, 12), long.ids.slice(20, 25)];
      const expected = await forward(merged, sequences);
      const plain = await forward(model.base, sequences);
      const adapted = await forward(model.base, sequences, adapter);
      const run = await makeDecoder(model.base, { adapter });
      await run.decoder.prefill([long.ids.slice(0, 4)], { slots: [0], cache: run.cache });
      const [cached = []] = await decodeTokens(run, [long.ids.slice(4, 12)]);
      await merged.dispose();
      for (const [i, rows] of expected.entries()) {
        expect(relativeDifference(adapted[i] ?? [], rows)).toBeLessThan(roundingOf(model.base));
        expect(largestDifference(adapted[i] ?? [], plain[i] ?? [])).toBeGreaterThan(0.5);
      }
      expect(relativeDifference(cached, expected[0]?.slice(4) ?? [])).toBeLessThan(
        roundingOf(model.base),
      );
    });
  });

  withOriginalWeights('heads', () => {
    const sequences = golden.sequences.map(({ ids }) => ids);
    const token = 41;
    /** With a row of the output head as its weight, a scalar head must return that token's logit. */
    const scalarOptions = () => ({
      base: model.base,
      head: takeRows(model.base.weight(model.base.headName), [token]),
      tokenizer: {} as Tokenizer,
    });

    test('a value head reads every token', async () => {
      const values = await new ValueModel(scalarOptions()).forward(sequences);
      for (const [i, { rows, logits }] of golden.sequences.entries()) {
        const ours = rows.map((row) => values[i]?.[row] ?? Number.NaN);
        const expected = logits.map((row) => row[token] ?? Number.NaN);
        expect(largestDifference([ours], [expected])).toBeLessThan(1e-4);
      }
    });

    test('a value head reads the token before each response token', async () => {
      const value = new ValueModel(scalarOptions());
      const ours = await value.values(
        [long.ids.slice(0, 64), long.ids.slice(0, 10)],
        [long.ids.slice(64), long.ids.slice(10)],
      );
      const [whole = []] = await forward(model.base, [long.ids]);
      const expected = whole.map((row) => row[token] ?? Number.NaN);
      expect(largestDifference(ours, [expected.slice(63, 69), expected.slice(9, 69)])).toBeLessThan(
        1e-4,
      );
      expect(ours[0]?.[0]).toBeCloseTo(long.logits[0]?.[token] ?? Number.NaN, 4);
    });

    test('a reward head reads the last token, with padding on either side', async () => {
      const reward = new RewardModel(scalarOptions());
      const expected = golden.sequences.map(({ logits }) => logits.at(-1)?.[token] ?? Number.NaN);
      for (const side of ['left', 'right']) {
        const pad = (ids: readonly number[], filler: number) => {
          const padding = Array<number>(71 - ids.length).fill(filler);
          return side === 'left' ? [...padding, ...ids] : [...ids, ...padding];
        };
        const scores = await reward.forward(
          sequences.map((ids) => pad(ids, 7)),
          sequences.map((ids) => pad(Array(ids.length).fill(1), 0)),
        );
        expect(largestDifference([scores], [expected])).toBeLessThan(1e-4);
      }
    });

    test('prefill returns the logits after the last token of each prompt', async () => {
      const run = await makeDecoder(model.base, { slots: golden.sequences.length });
      const slots = sequences.map((_, slot) => slot);
      const { logits } = await run.decoder.prefill(sequences, { slots, cache: run.cache });
      const rows = rowsOf(logits);
      const expected = golden.sequences.map(({ logits }) => logits.at(-1) ?? []);
      expect(largestDifference(rows, expected)).toBeLessThan(1e-4);
    });
  });

  test('readArchitecture() reads the config that describe() returns', () => {
    const { family, config } = model.base.architecture;
    expect(readArchitecture(family.describe(config)).config).toEqual(config);
  });

  test('weightShapes() are the names and shapes in the file', async () => {
    const reader = await openSafetensors(fixtureFolder(name));
    await reader.close();
    // An older GPT-2 file has no prefix but has causal masks.
    const prefix = name === 'gpt2-inner' ? 'transformer.' : '';
    const stored = reader.tensors
      .filter((info) => !/^h\.\d+\.attn\.bias$/.test(info.name))
      .map((info) => [`${prefix}${info.name}`, info.shape] as const);
    const ours = weightShapes(model.base.architecture);
    expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(stored));
  });
});

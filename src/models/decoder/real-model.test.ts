import { beforeAll, describe, expect, test } from 'vitest';
import {
  largestDifference,
  relativeDifference,
  rootMeanSquare,
  standardDeviation,
} from '../../../test/helpers/model-difference.ts';
import {
  hasStories,
  readStories,
  type StoryCase,
  storiesFolder,
  storiesTitle,
  useModel,
} from '../../../test/helpers/model-fixtures.ts';
import {
  decodeGreedily,
  decodeTokens,
  forward,
  makeDecoder,
} from '../../../test/helpers/model-runs.ts';
import { byteLimit } from '../../engine/runtime/index.ts';
import { forward as runLayers } from './forward.ts';
import { PackedBatch } from './packed-batch.ts';

describe.skipIf(!hasStories)(storiesTitle, () => {
  const model = useModel(storiesFolder);
  let stories: readonly StoryCase[] = [];
  beforeAll(() => {
    stories = readStories();
    expect(stories).toHaveLength(2);
  });

  test('logits equal transformers’', async () => {
    const all = await forward(
      model.base,
      stories.map(({ greedy_ids }) => greedy_ids),
    );
    for (const [i, { last_logits_first16: expected }] of stories.entries()) {
      expect(largestDifference([all[i]?.at(-1)?.slice(0, 16) ?? []], [expected])).toBeLessThan(
        1e-4,
      );
    }
  });

  test('logprobs and entropies equal transformers’', async () => {
    for (const { greedy_ids: ids, token_logprobs, entropy } of stories) {
      const { hidden } = await runLayers(model, new PackedBatch([ids]));
      const ours = await model.base.logprobs(hidden, Int32Array.from([...ids.slice(1), 0]));
      expect(largestDifference([ours.logprobs.slice(0, -1)], [token_logprobs])).toBeLessThan(1e-4);
      // 32 000 terms in float32: the sums of transformers are off by 1e-4, and so are ours.
      expect(largestDifference([ours.entropies], [entropy])).toBeLessThan(2e-4);
    }
  });

  test('entropies are those of the logits, summed in float64', async () => {
    for (const { greedy_ids: ids } of stories) {
      const batch = new PackedBatch([ids]);
      const { hidden } = await runLayers(model, batch);
      const { entropies } = await model.base.logprobs(hidden, batch.tokens);
      const [logits = []] = await forward(model.base, [ids]);
      expect(largestDifference([entropies], [logits.map(entropyOf)])).toBeLessThan(1e-4);
    }
  });

  test.each(['f32', 'f32-feeds'] as const)(
    'greedy stories equal transformers’ in %s',
    async (precision) => {
      const run = await makeDecoder(model.base, { slots: stories.length, precision });
      const ids = await decodeGreedily(
        run,
        stories.map(({ prompt_ids }) => prompt_ids),
        32,
      );
      expect(ids).toEqual(
        stories.map(({ prompt_ids, greedy_ids }) => greedy_ids.slice(prompt_ids.length)),
      );
    },
  );

  test('tokens that run one by one have the logits of the whole story', async () => {
    const ids = stories[1]?.greedy_ids ?? [];
    const [whole = []] = await forward(model.base, [ids]);
    const run = await makeDecoder(model.base);
    await run.decoder.prefill([ids.slice(0, 5)], { slots: [0], cache: run.cache });
    const [stepped = []] = await decodeTokens(run, [ids.slice(5)]);
    expect(relativeDifference(stepped, whole.slice(5))).toBeLessThan(1e-5);
  });

  test('int8 has logits close to those of f32', async () => {
    const ids = stories[1]?.greedy_ids ?? [];
    const [whole = []] = await forward(model.base, [ids]);
    const run = await makeDecoder(model.base, { precision: 'int8' });
    await run.decoder.prefill([ids.slice(0, 5)], { slots: [0], cache: run.cache });
    const [stepped = []] = await decodeTokens(run, [ids.slice(5)]);
    const error = rootMeanSquare(stepped, whole.slice(5)) / standardDeviation(whole.slice(5));
    // Measured: 0.032 with 8-bit rows; processors without VNNI get 7 bits.
    expect(error).toBeLessThan((0.05 * 127) / (await byteLimit()));
    expect(error).toBeGreaterThan(0.003);
  });
});

/** H = log Z − Σ z·e^z / Z with z = logit − largest. */
function entropyOf(logits: Float32Array): number {
  const largest = logits.reduce((a, b) => Math.max(a, b));
  let [partition, weighted] = [0, 0];
  for (const logit of logits) {
    const e = Math.exp(logit - largest);
    partition += e;
    weighted += (logit - largest) * e;
  }
  return Math.log(partition) - weighted / partition;
}

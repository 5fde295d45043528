import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../../../test/helpers/tiny-tokenizer.ts';
import { resolveModelConfig } from '../../config/model-config.ts';
import { createModel, freshArchitecture } from './create-model.ts';
import { loadModel } from './load-model.ts';
import { expectMatchingVocabulary } from './read-base.ts';
import { saveModel } from './save-model.ts';

/** Loads a model with an embedding of this many rows and a tokenizer of 11 tokens. */
async function loadWithRows(vocabSize: number) {
  const folder = makeTempFolder();
  const config = resolveModelConfig({
    ...{ vocabSize, hiddenSize: 8, numAttentionHeads: 2, numLayers: 1 },
  });
  await saveModel(folder, createModel(freshArchitecture(config), 1));
  writeTinyTokenizer(folder);
  return { folder, loading: loadModel(folder) };
}

describe('loadModel()', () => {
  test.each([11, 128, 267])('accepts a tokenizer of 11 tokens for %i rows', async (rows) => {
    const { loading } = await loadWithRows(rows);
    expect((await loading).tokenizer.vocabSize).toBe(11);
  });

  test.each([
    ['Qwen3', { tokens: 151_669, rows: 151_936 }],
    ['Qwen2.5 7B', { tokens: 151_665, rows: 152_064 }],
    ['Phi-2', { tokens: 50_295, rows: 51_200 }],
    ['GPT-2', { tokens: 50_257, rows: 50_257 }],
  ])('accepts the padding of %s', (_, sizes) => {
    expect(() => expectMatchingVocabulary('model', sizes)).not.toThrow();
  });

  test('rejects a tokenizer with ids beyond the embedding', async () => {
    const { folder, loading } = await loadWithRows(10);
    await expect(loading).rejects.toThrow(
      new RangeError(
        `Cannot use the tokenizer in ${folder}: its token ids must be below the model's vocab_size of 10, got ids up to 10; it belongs to another model, copy the files of the right one`,
      ),
    );
  });

  test('rejects a tokenizer with far fewer tokens than rows', async () => {
    const { folder, loading } = await loadWithRows(32_000);
    await expect(loading).rejects.toThrow(
      new RangeError(
        `Cannot use the tokenizer in ${folder}: it must have at least 30,400 tokens for the model's vocab_size of 32,000, got 11; it belongs to another model, copy the files of the right one`,
      ),
    );
  });
});

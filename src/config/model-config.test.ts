import { describe, expect, test } from 'vitest';
import { configFields } from './config-fields.ts';
import { modelConfigSchema, resolveModelConfig } from './model-config.ts';
import { ConfigError } from './parse-config.ts';

/** The error message for a rejected config. */
function errorOf(config: unknown): string {
  try {
    resolveModelConfig(config as object);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return expect.fail('the config was accepted');
}

describe('resolveModelConfig()', () => {
  test("has the specification's values and family qwen3 by default", () => {
    expect(resolveModelConfig()).toEqual({
      modelType: 'qwen3',
      vocabSize: 151_936,
      hiddenSize: 768,
      intermediateSize: 2048,
      numLayers: 12,
      numAttentionHeads: 12,
      numKeyValueHeads: 12,
      headDim: 64,
      maxPositionEmbeddings: 2048,
      ropeTheta: 1_000_000,
      tieWordEmbeddings: true,
      dropout: 0.1,
      layerNormEps: 1e-5,
    });
  });

  test('fills missing fields from the family', () => {
    expect(resolveModelConfig({ modelType: 'gpt2' })).toMatchObject({
      vocabSize: 50_257,
      intermediateSize: 3072,
      ropeTheta: undefined,
    });
    expect(resolveModelConfig({ modelType: 'llama', hiddenSize: 48 })).toMatchObject({
      vocabSize: 32_000,
      intermediateSize: 128,
      headDim: 4,
      ropeTheta: 10_000,
    });
  });

  test.each(['qwen3', 'qwen2', 'llama', 'gpt2'] as const)(
    'returns a config of %s that is also valid as options',
    (modelType) => {
      const config = resolveModelConfig({ modelType });
      expect(resolveModelConfig(config)).toEqual(config);
    },
  );

  test.each([
    [{ hiddensize: 5 }, 'it has no "hiddensize"; did you mean "hiddenSize"?'],
    [{ num_layers: 5, dropout: 'x' }, 'it has no "num_layers"; did you mean "numLayers"?'],
    [
      { color: 'red' },
      'it has no "color"; it has modelType, vocabSize, hiddenSize, intermediateSize, numLayers, numAttentionHeads, numKeyValueHeads, headDim, maxPositionEmbeddings, ropeTheta, tieWordEmbeddings, dropout, layerNormEps',
    ],
    [{ hiddenSize: 0 }, 'hiddenSize must be a whole number ≥ 1, got 0'],
    [{ numLayers: 1.5 }, 'numLayers must be a whole number ≥ 1, got 1.5'],
    [{ vocabSize: '100' }, 'vocabSize must be a whole number ≥ 1, got "100"'],
    [{ dropout: 1 }, 'dropout must be a number ≥ 0 and < 1, got 1'],
    [{ layerNormEps: Number.NaN }, 'layerNormEps must be a number > 0, got NaN'],
    [{ tieWordEmbeddings: 'yes' }, 'tieWordEmbeddings must be true or false, got "yes"'],
    [{ modelType: 'bert' }, 'modelType must be qwen3, qwen2, llama or gpt2, got "bert"'],
    [[], 'it must be an object, got []'],
  ])('rejects %j', (config, error) => {
    expect(errorOf(config)).toBe(`Cannot use the model config: ${error}`);
  });

  test.each([
    [
      { hiddenSize: 100, numAttentionHeads: 3 },
      'hiddenSize must be a multiple of numAttentionHeads (3), got 100; or set headDim',
    ],
    [
      { numAttentionHeads: 12, numKeyValueHeads: 5 },
      'numAttentionHeads must be a multiple of numKeyValueHeads (5), got 12',
    ],
    [{ headDim: 7 }, 'headDim must be even, because rotary positions rotate pairs, got 7'],
    [
      { modelType: 'gpt2', hiddenSize: 100 },
      'hiddenSize must be a multiple of numAttentionHeads (12), got 100',
    ],
    [
      { modelType: 'gpt2', numKeyValueHeads: 4 },
      'numKeyValueHeads must be numAttentionHeads (12) in gpt2, got 4',
    ],
    [
      { modelType: 'gpt2', headDim: 32 },
      'headDim must be hiddenSize / numAttentionHeads (64) in gpt2, got 32',
    ],
    [
      { modelType: 'gpt2', ropeTheta: 10_000 },
      'ropeTheta must not be set for gpt2, whose positions are learned, got 10000',
    ],
  ])('rejects the contradiction in %j', (config, error) => {
    expect(errorOf(config)).toBe(`Cannot use the model config: ${error}`);
  });

  test('allows a head size other than hidden size / heads, and odd head sizes in gpt2', () => {
    expect(resolveModelConfig({ hiddenSize: 100, numAttentionHeads: 3, headDim: 8 })).toMatchObject(
      { headDim: 8, numKeyValueHeads: 3 },
    );
    const odd = { modelType: 'gpt2', hiddenSize: 15, numAttentionHeads: 3 } as const;
    expect(resolveModelConfig(odd).headDim).toBe(5);
  });
});

test('every field of the model config has a description', () => {
  const bare = configFields(modelConfigSchema).filter(({ description }) => description === '');
  expect(bare).toEqual([]);
});

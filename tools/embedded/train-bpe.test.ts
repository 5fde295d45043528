import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Tokenizer } from '../../src/base-setup/index.ts';
import { makeTokenizerConfig, makeTokenizerJson, specialTokens } from './tokenizer-files.ts';
import { trainBpe } from './train-bpe.ts';
import { makeWorldTexts } from './world-texts.ts';

const worldTexts = () => makeWorldTexts('pretraining', { seed: 0, count: 300 });
const train = (texts: Iterable<string>, vocabSize: number) =>
  trainBpe(texts, { vocabSize, specialTokens });

describe('trainBpe()', () => {
  test('trainBpe() gives the hand-worked merges', () => {
    const { tokens, merges } = train(['aab aab ab'], 261);
    expect(merges).toEqual([
      ['a', 'b'],
      ['a', 'ab'],
      ['Ġ', 'ab'],
    ]);
    expect(tokens.slice(0, 2)).toEqual(['<|endoftext|>', '<|pad|>']);
    expect(tokens.slice(-3)).toEqual(['ab', 'aab', 'Ġab']);
  });

  test('trainBpe() merges pairs that overlap from the left', () => {
    expect(train(['aaa'], 260).merges).toEqual([
      ['a', 'a'],
      ['aa', 'a'],
    ]);
  });

  test('trainBpe() never merges across words or digits', () => {
    const { tokens } = train(worldTexts(), 600);
    const merged = tokens.slice(258);
    expect(merged.filter((token) => /.Ġ|\d|[.?!][a-z]/i.test(token))).toEqual([]);
  });

  test('trainBpe() always gives the same', () => {
    expect(train(worldTexts(), 400)).toEqual(train(worldTexts(), 400));
  });

  test('trainBpe() refuses vocabularies without room for bytes, and texts with too few pairs', () => {
    expect(() => train(['a'], 257)).toThrow(
      'Cannot train BPE: vocabSize must be at least 258, the special tokens and bytes, got 257',
    );
    expect(() => train(['ab'], 260)).toThrow(
      'Cannot train BPE: the texts must have pairs left to merge, got none after 259 tokens; give more texts, or lower vocabSize',
    );
  });
});

describe('the tokenizer', () => {
  const bpe = train(worldTexts(), 700);
  const tokenizer = new Tokenizer({
    tokenizer: makeTokenizerJson(bpe),
    config: makeTokenizerConfig({ contextLength: 256 }),
    model: {},
    generation: {},
    chatTemplate: undefined,
  });

  test('has its special tokens first', () => {
    const { bosId, eosIds, padId, vocabSize } = tokenizer;
    expect({ bosId, eosIds, padId, vocabSize }).toEqual({
      bosId: undefined,
      eosIds: [0],
      padId: 1,
      vocabSize: 700,
    });
    expect([...tokenizer.encode('<|endoftext|>')]).toEqual([0]);
  });

  test('splits words as it was trained', () => {
    const small = new Tokenizer({
      tokenizer: makeTokenizerJson(train(['aab aab ab'], 261)),
      config: makeTokenizerConfig({ contextLength: 256 }),
      model: {},
      generation: {},
      chatTemplate: undefined,
    });
    const pieces = small.pieces(small.encode('aab ab aaab'));
    expect(pieces).toEqual(['aab', ' ab', ' ', 'a', 'aab']);
  });

  test('gives every text back', () => {
    for (const text of makeWorldTexts('validation', { seed: 0, count: 100 })) {
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    }
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text.normalize('NFC'));
      }),
    );
  });
});

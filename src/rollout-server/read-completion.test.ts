import { expect, test } from 'vitest';
import { tinyTokenizer } from '../../test/helpers/generation-tiny-model.ts';
import { createSequences } from '../generation/create-sequences.ts';
import type { GenerationOptions } from '../generation/index.ts';
import { readCompletion } from './read-completion.ts';
import type { Completion } from './server-protocol.ts';

const tokenizer = tinyTokenizer();

/** Reads the tokens of `words` as a server's response to the prompt `a`. */
function read(words: string, options: GenerationOptions, completion: Partial<Completion> = {}) {
  const [sequence] = createSequences(['a'], options, { tokenizer, context: 96 });
  const tokens = [...tokenizer.encode(words)];
  const logprobs = tokens.map((_, t) => -1 - t);
  const text = { tokens, logprobs, finishReason: 'length' as const, ...completion };
  const result = readCompletion(sequence!, text, { vocabSize: 60 });
  if (typeof result === 'string') throw new Error(result);
  const { text: visible, finishReason, samplingLogprobs, pieces } = result;
  return { visible, finishReason, logprobs: [...samplingLogprobs], pieces };
}

test('readCompletion() drops what a server generated after a stop token', () => {
  expect(read('b c <eos> d e', { maxNewTokens: 5 })).toEqual({
    visible: ' b c',
    finishReason: 'stop',
    logprobs: [-1, -2, -3],
    pieces: [' b', ' c', ''],
  });
});

test('readCompletion() drops a stop string and what follows', () => {
  expect(read('b c d e', { maxNewTokens: 5, stopStrings: ['c d'] })).toMatchObject({
    visible: ' b ',
    finishReason: 'stop',
    logprobs: [-1, -2, -3],
  });
});

test('readCompletion() ends at maxNewTokens, or where the server ended', () => {
  expect(read('b c d', { maxNewTokens: 2 })).toMatchObject({
    visible: ' b c',
    finishReason: 'length',
    logprobs: [-1, -2],
  });
  expect(read('b c', { maxNewTokens: 9, stopStrings: ['cx'] })).toMatchObject({
    visible: ' b c',
    finishReason: 'length',
  });
  const stopped = read('b c', { maxNewTokens: 9 }, { finishReason: 'stop' });
  expect(stopped).toMatchObject({ visible: ' b c', finishReason: 'stop' });
});

test('readCompletion() accepts rounding errors of certain tokens', () => {
  const { logprobs } = read('b c', { maxNewTokens: 2 }, { logprobs: [1e-7, -0.5] });
  expect(logprobs).toEqual([0, -0.5]);
});

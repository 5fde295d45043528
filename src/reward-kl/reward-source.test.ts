import { describe, expect, test } from 'vitest';
import type { GeneratedText } from '../generation/sequence.ts';
import { messageOf, toRewardSamples } from './reward-source.ts';

const prompts = [{ text: 'a b', row: { answer: 7 } }, { text: 'c' }];

const expected = [
  {
    ...{ prompt: 'c', response: 'no', promptTokens: Int32Array.of(3), tokens: Int32Array.of(5, 6) },
    ...{ finished: false, promptIdx: 1, sample: 0 },
  },
  {
    ...{ prompt: 'a b', response: 'yes', promptTokens: Int32Array.of(1, 2) },
    ...{ tokens: Int32Array.of(4), finished: true, promptIdx: 0, sample: 1, row: { answer: 7 } },
  },
];

describe('toRewardSamples()', () => {
  test('converts the responses of a rollout', () => {
    const sequences = expected.map(({ prompt, response, ...sequence }) => ({
      ...sequence,
      ...{ promptText: prompt, text: response, pieces: [response] },
    }));
    const rollout = { sequences, offsets: Int32Array.of(0, 2, 3), tokens: Int32Array.of(5, 6, 4) };
    expect(toRewardSamples(rollout, prompts)).toStrictEqual(expected);
  });

  test('converts generated texts', () => {
    const texts = expected.map(
      ({ response, promptTokens, tokens, finished, promptIdx, sample }): GeneratedText => ({
        ...{ prompt: promptIdx, sample, promptTokens, tokens, text: response, pieces: [response] },
        logprobs: new Float32Array(tokens.length),
        samplingLogprobs: new Float32Array(tokens.length),
        finishReason: finished ? 'stop' : 'length',
      }),
    );
    expect(toRewardSamples(texts, prompts)).toStrictEqual(expected);
  });
});

test('messageOf() is the message of an error on one line, or any other value as text', () => {
  expect(messageOf(new Error('first\n  second'))).toBe('first second');
  expect(messageOf('plain')).toBe('plain');
  expect(messageOf(new RangeError(''))).toBe('RangeError');
});

import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { format } from './format.ts';

describe('format', () => {
  test('counts each tag, and that nothing else stands around them', () => {
    const responses = [
      '<think>2 + 2</think> <answer>4</answer>\n',
      '<think>2 + 2</think> 4',
      '<answer>4</answer><think>2 + 2</think>',
      'So <think>2 + 2</think><answer>4</answer>',
      '<think> </think><answer>4</answer>',
      '<think>a</think><think>b</think><answer>4</answer>',
      '</think>a<think>',
      '',
    ];
    expect(samplesOf(...responses).map(format({ tags: ['think', 'answer'] }))).toEqual(
      [3, 1, 2, 2, 2, 1, 0, 0].map((kept) => kept / 3),
    );
  });

  test('counts how a response begins and ends and its lines', () => {
    const reward = format({ startsWith: 'Dear', endsWith: '.', maxLines: 2 });
    const responses = [' Dear Ann,\n\nthank you. ', 'Dear\na\nb', 'Hi.', ''];
    expect(samplesOf(...responses).map(reward)).toEqual([3, 1, 2, 0].map((kept) => kept / 3));
  });

  test('needs a rule', () => {
    expect(() => format({})).toThrow(
      'Cannot use the reward format: tags, startsWith, endsWith or maxLines must be given, got none',
    );
  });
});

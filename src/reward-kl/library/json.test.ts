import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { json } from './json.ts';

const block = '```json\n{"a": 1}\n```';

describe('json', () => {
  test('is 1 for JSON and nothing else', () => {
    const responses = ['{"a": 1}', ' [1]\n', '42', '{a: 1}', '{"a": 1} done', '', block];
    expect(samplesOf(...responses).map(json())).toEqual([1, 1, 1, 0, 0, 0, 0]);
  });

  test('may ask for an object or an array', () => {
    const samples = samplesOf('{"a": 1}', '[1]', '42', 'null');
    expect(samples.map(json({ type: 'object' }))).toEqual([1, 0, 0, 0]);
    expect(samples.map(json({ type: 'array' }))).toEqual([0, 1, 0, 0]);
  });

  test('may take a code block, alone', () => {
    const responses = [block, '```\n[]```', '{"a": 1}', `Here:\n${block}`, '```json\n{\n```'];
    expect(samplesOf(...responses).map(json({ fenced: true }))).toEqual([1, 1, 1, 0, 0]);
  });
});

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { format, json, jsonSchema } from './format.ts';

describe('format', () => {
  test('counts each tag, and whether there is any other text', () => {
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
      [3, 1, 2, 2, 2, 1, 0, 0].map((followed) => followed / 3),
    );
  });

  test('counts the start, the end and the number of lines', () => {
    const reward = format({ startsWith: 'Dear', endsWith: '.', maxLines: 2 });
    const responses = [' Dear Ann,\n\nthank you. ', 'Dear\na\nb', 'Hi.', ''];
    expect(samplesOf(...responses).map(reward)).toEqual(
      [3, 1, 2, 0].map((followed) => followed / 3),
    );
  });

  test('requires a rule', () => {
    expect(() => format({})).toThrow(
      'Cannot use the reward format: set tags, startsWith, endsWith or maxLines, got none',
    );
  });
});

const block = '```json\n{"a": 1}\n```';

describe('json', () => {
  test('is 1 for JSON and nothing else', () => {
    const responses = ['{"a": 1}', ' [1]\n', '42', '{a: 1}', '{"a": 1} done', '', block];
    expect(samplesOf(...responses).map(json())).toEqual([1, 1, 1, 0, 0, 0, 0]);
  });

  test('can require an object or an array', () => {
    const samples = samplesOf('{"a": 1}', '[1]', '42', 'null');
    expect(samples.map(json({ type: 'object' }))).toEqual([1, 0, 0, 0]);
    expect(samples.map(json({ type: 'array' }))).toEqual([0, 1, 0, 0]);
  });

  test('can accept a code block without other text', () => {
    const responses = [block, '```\n[]```', '{"a": 1}', `Here:\n${block}`, '```json\n{\n```'];
    expect(samplesOf(...responses).map(json({ fenced: true }))).toEqual([1, 1, 1, 0, 0]);
  });
});

const schema = { type: 'object', required: ['age'], properties: { age: { type: 'integer' } } };

describe('jsonSchema', () => {
  test('is 1 for JSON that matches', () => {
    const responses = ['{"age": 7}', '{"name": "Ann"}', '{"age": "7"}', 'age 7', ''];
    expect(samplesOf(...responses).map(jsonSchema({ schema }))).toEqual([1, 0, 0, 0, 0]);
  });

  test('accepts 2020-12 schemas as zod creates them', () => {
    const person = z.strictObject({ email: z.email(), pair: z.tuple([z.int(), z.string()]) });
    const reward = jsonSchema({ schema: z.toJSONSchema(person) });
    const responses = [
      '{"email": "a@b.de", "pair": [1, "x"]}',
      '{"email": "a@b.de", "pair": ["x", 1]}',
    ];
    expect(samplesOf(...responses).map(reward)).toEqual([1, 0]);
  });

  test('can accept a code block', () => {
    const samples = samplesOf('```json\n{"age": 7}\n```');
    expect(samples.map(jsonSchema({ schema }))).toEqual([0]);
    expect(samples.map(jsonSchema({ schema, fenced: true }))).toEqual([1]);
  });

  test('rejects an invalid schema', () => {
    expect(() => jsonSchema({ schema: { type: 'objekt' } })).toThrow(
      /^Cannot use the reward jsonSchema: schema must be a JSON Schema \(schema is invalid: data\/type/,
    );
  });
});

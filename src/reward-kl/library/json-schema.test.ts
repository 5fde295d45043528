import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { samplesOf } from '../../../test/helpers/reward-samples.ts';
import { jsonSchema } from './json-schema.ts';

const schema = { type: 'object', required: ['age'], properties: { age: { type: 'integer' } } };

describe('jsonSchema', () => {
  test('is 1 for JSON that fits', () => {
    const responses = ['{"age": 7}', '{"name": "Ann"}', '{"age": "7"}', 'age 7', ''];
    expect(samplesOf(...responses).map(jsonSchema({ schema }))).toEqual([1, 0, 0, 0, 0]);
  });

  test('takes the schemas that zod makes, which are of 2020-12', () => {
    const person = z.strictObject({ email: z.email(), pair: z.tuple([z.int(), z.string()]) });
    const reward = jsonSchema({ schema: z.toJSONSchema(person) });
    const responses = [
      '{"email": "a@b.de", "pair": [1, "x"]}',
      '{"email": "a@b.de", "pair": ["x", 1]}',
    ];
    expect(samplesOf(...responses).map(reward)).toEqual([1, 0]);
  });

  test('may take a code block', () => {
    const samples = samplesOf('```json\n{"age": 7}\n```');
    expect(samples.map(jsonSchema({ schema }))).toEqual([0]);
    expect(samples.map(jsonSchema({ schema, fenced: true }))).toEqual([1]);
  });

  test('what is no schema is refused', () => {
    expect(() => jsonSchema({ schema: { type: 'objekt' } })).toThrow(
      /^Cannot use the reward jsonSchema: schema must be a JSON Schema \(schema is invalid: data\/type/,
    );
  });
});

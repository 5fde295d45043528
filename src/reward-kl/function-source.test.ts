import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../test/helpers/reward-samples.ts';
import { FunctionSource } from './function-source.ts';

const { signal } = new AbortController();
const samples = samplesOf('ab', 'c', 'def');

describe('FunctionSource', () => {
  test('scores each sample, synchronously or not, as a whole or per token', async () => {
    const source = new FunctionSource(({ response, tokens }) => {
      if (response === 'c') return Promise.resolve(-1);
      return response === 'def' ? Array.from(tokens, (_, t) => t) : response.length;
    });
    expect(await source.score(samples, { signal })).toEqual([2, -1, [0, 1, 2]]);
  });

  test("has the function's name unless another is set", () => {
    const brevity = () => 0;
    expect(new FunctionSource(brevity).name).toBe('brevity');
    expect(new FunctionSource(() => 0).name).toBe('reward');
    expect(new FunctionSource(brevity, { name: 'short' }).name).toBe('short');
  });

  test('names the function, the sample and the error if it throws', async () => {
    const picky = ({ response }: { response: string }) => {
      if (response === 'c') throw new RangeError('c is not a word');
      return 1;
    };
    await expect(new FunctionSource(picky).score(samples, { signal })).rejects.toThrow(
      'Cannot score sample 1 with "picky": c is not a word',
    );
  });

  test('keeps the order and never exceeds the concurrency', async () => {
    const counts = fc.integer({ min: 1, max: 12 });
    await fc.assert(
      fc.asyncProperty(counts, counts, async (count, concurrency) => {
        let [running, maximum] = [0, 0];
        const source = new FunctionSource(
          async ({ promptIdx }) => {
            maximum = Math.max(maximum, ++running);
            for (let tick = promptIdx % 3; tick >= 0; tick--) await Promise.resolve();
            running--;
            return promptIdx;
          },
          { concurrency },
        );
        const many = samplesOf(...Array.from({ length: count }, () => 'a'));
        expect(await source.score(many, { signal })).toEqual([...many.keys()]);
        expect(maximum).toBe(Math.min(count, concurrency));
      }),
    );
  });

  test('starts no sample after a throw', async () => {
    const started: number[] = [];
    const source = new FunctionSource(
      async ({ promptIdx }) => {
        started.push(promptIdx);
        if (promptIdx === 1) throw new Error('no');
        return 0;
      },
      { concurrency: 1 },
    );
    await expect(source.score(samples, { signal })).rejects.toThrow('sample 1');
    expect(started).toEqual([0, 1]);
  });

  test('starts no sample after an abort', async () => {
    const controller = new AbortController();
    const started: number[] = [];
    const source = new FunctionSource(
      ({ promptIdx }) => {
        started.push(promptIdx);
        controller.abort(new Error('stop'));
        return 0;
      },
      { concurrency: 1 },
    );
    await expect(source.score(samples, { signal: controller.signal })).rejects.toThrow('stop');
    expect(started).toEqual([0]);
  });

  test('rejects a concurrency of 0', async () => {
    const source = new FunctionSource(() => 0, { concurrency: 0 });
    await expect(source.score(samples, { signal })).rejects.toThrow(
      'concurrency must be a whole number ≥ 1, got 0',
    );
  });
});

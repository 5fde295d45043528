import { describe, expect, it } from 'vitest';
import { inOrder } from './in-order.ts';

/** Jobs that record when they start and end; job i takes the i-th time. */
function jobsOf(milliseconds: readonly number[]) {
  const log: string[] = [];
  const run = async (time: number, i: number) => {
    log.push(`start ${i}`);
    await new Promise((resolve) => {
      setTimeout(resolve, time);
    });
    log.push(`end ${i}`);
    return i;
  };
  return { log, run, milliseconds };
}

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const result of results) all.push(result);
  return all;
}

describe('inOrder', () => {
  it('runs local jobs one after another', async () => {
    const { log, run, milliseconds } = jobsOf([5, 0]);
    expect(await collect(inOrder({}, milliseconds, run))).toEqual([0, 1]);
    expect(log).toEqual(['start 0', 'end 0', 'start 1', 'end 1']);
  });

  it('starts remote jobs at once and returns their results in order', async () => {
    const { log, run, milliseconds } = jobsOf([30, 0]);
    expect(await collect(inOrder({ isRemote: true }, milliseconds, run))).toEqual([0, 1]);
    expect(log).toEqual(['start 0', 'start 1', 'end 1', 'end 0']);
  });

  it('throws the error of a later job in its turn', async () => {
    const run = async (item: number) => {
      if (item === 2) throw new Error('no');
      return item;
    };
    const results: number[] = [];
    const read = async () => {
      for await (const result of inOrder({ isRemote: true }, [1, 2, 3], run)) results.push(result);
    };
    await expect(read()).rejects.toThrow('no');
    expect(results).toEqual([1]);
  });
});

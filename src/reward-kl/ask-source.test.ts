import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { samplesOf } from '../../test/helpers/reward-samples.ts';
import { askSource } from './ask-source.ts';
import { FunctionSource } from './function-source.ts';
import { RewardError } from './reward-error.ts';
import type { RewardSource, ScoreContext } from './reward-source.ts';

const samples = samplesOf('ab', 'c', 'def');
const forever = new AbortController().signal;

const source = (score: RewardSource['score'], timeout?: number): RewardSource => ({
  name: 'judge',
  timeout,
  score,
});
const ask = (asked: RewardSource, { signal = forever, timeout = 30 } = {}) =>
  askSource(asked, samples, { signal, timeout });
const never = () => new Promise<never>(() => {});

describe('askSource()', () => {
  test('gives the scores in order', async () => {
    expect(await ask(source(async (all) => all.map(({ response }) => response.length)))).toEqual([
      2, 1, 3,
    ]);
  });

  test('a wrong answer is an error that names the source', async () => {
    await expect(ask(source(async () => [1, Number.NaN, 2]))).rejects.toThrow(
      'Cannot use the scores of "judge": that of sample 1 must be a finite number, got NaN',
    );
  });

  test.each([
    ['later', async () => Promise.reject(new TypeError('no\n  such field'))],
    [
      'at once',
      () => {
        throw new TypeError('no\n  such field');
      },
    ],
  ])('a throw %s becomes one line that names the source', async (_, score) => {
    const error = await ask(source(score)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RewardError);
    expect((error as Error).message).toBe('Cannot score with "judge": no such field');
    expect((error as Error).cause).toBeInstanceOf(TypeError);
  });

  test('a hang ends with an error, and the signal of the source fires', async () => {
    let seen: AbortSignal | undefined;
    const hung = source((_, { signal }) => {
      seen = signal;
      return never();
    });
    await expect(ask(hung)).rejects.toThrow(
      'Cannot score with "judge": it must give a score within 30 ms, got none for 3 samples, the first is 0; raise rewardTimeout if it needs longer',
    );
    expect(seen?.aborted).toBe(true);
  });

  test('a hang names the one sample that is missing', async () => {
    const hung = new FunctionSource(({ response }) => (response === 'c' ? never() : 1), {
      name: 'picky',
    });
    await expect(ask(hung)).rejects.toThrow(
      'Cannot score with "picky": it must give a score within 30 ms, got none for sample 1;',
    );
  });

  test('the limit of the source goes before that of the caller', async () => {
    await expect(ask(source(never, 20), { timeout: 1e6 })).rejects.toThrow('within 20 ms');
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return [1, 2, 3];
    };
    expect(await ask(source(slow, Infinity), { timeout: 1 })).toEqual([1, 2, 3]);
  });

  test('each score that comes gives the next as much time', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let report: ScoreContext['onScored'];
    const slow = source((_, { onScored }) => {
      report = onScored;
      return never();
    });
    const asked = ask(slow, { timeout: 100 }).catch((error: Error) => error.message);
    for (const i of [0, 1]) {
      await vi.advanceTimersByTimeAsync(99);
      report!(i);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(await asked).toContain('within 100 ms, got none for sample 2;');
  });

  test("the caller's abort ends the wait with the caller's reason", async () => {
    const controller = new AbortController();
    const reason = new Error('Ctrl-C');
    let seen: AbortSignal | undefined;
    const hung = source((_, { signal }) => {
      seen = signal;
      return never();
    });
    const asked = ask(hung, { signal: controller.signal, timeout: 1e6 });
    controller.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(seen?.aborted).toBe(true);
    await expect(ask(source(never), { signal: controller.signal })).rejects.toBe(reason);
  });
});

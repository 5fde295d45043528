import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { samplesOf } from '../../test/helpers/reward-samples.ts';
import { FunctionSource } from './function-source.ts';
import { RewardError, type RewardSource, type ScoreContext } from './reward-source.ts';
import { checkScores, combineScores, scoreWith } from './score-samples.ts';

const samples = samplesOf('ab', 'c', 'def');
const forever = new AbortController().signal;

const source = (score: RewardSource['score'], timeout?: number): RewardSource => ({
  name: 'judge',
  timeout,
  score,
});
const score = (from: RewardSource, { signal = forever, timeout = 0.03 } = {}) =>
  scoreWith(from, samples, { signal, timeout });
const never = () => new Promise<never>(() => {});

describe('scoreWith()', () => {
  test('returns the scores in order', async () => {
    expect(await score(source(async (all) => all.map(({ response }) => response.length)))).toEqual([
      2, 1, 3,
    ]);
  });

  test('names the source if it returns an invalid score', async () => {
    await expect(score(source(async () => [1, Number.NaN, 2]))).rejects.toThrow(
      'Cannot use the scores of "judge": the score of sample 1 must be a finite number, got NaN',
    );
  });

  test.each([
    ['asynchronously', async () => Promise.reject(new TypeError('no\n  such field'))],
    [
      'synchronously',
      () => {
        throw new TypeError('no\n  such field');
      },
    ],
  ])('if the source throws %s, the error is one line that names it', async (_, throwing) => {
    const error = await score(source(throwing)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RewardError);
    expect((error as Error).message).toBe('Cannot score with "judge": no such field');
    expect((error as Error).cause).toBeInstanceOf(TypeError);
  });

  test('if the source hangs, throws an error and fires its signal', async () => {
    let seen: AbortSignal | undefined;
    const hung = source((_, { signal }) => {
      seen = signal;
      return never();
    });
    await expect(score(hung)).rejects.toThrow(
      'Cannot score with "judge": it must return a score within 0.03 s, got none for 3 samples, the first is 0 (the response is "ab", the prompt "a b"), so scoring was stopped; raise rewardTimeout if it needs longer',
    );
    expect(seen?.aborted).toBe(true);
  });

  test('names the one missing sample of a source that hangs', async () => {
    const hung = new FunctionSource(({ response }) => (response === 'c' ? never() : 1), {
      name: 'picky',
    });
    await expect(score(hung)).rejects.toThrow(
      'Cannot score with "picky": it must return a score within 0.03 s, got none for sample 1 (the response is "c", the prompt "a b"), so',
    );
  });

  test("the source's timeout overrides the caller's", async () => {
    await expect(score(source(never, 0.02), { timeout: 1e6 })).rejects.toThrow('within 0.02 s');
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return [1, 2, 3];
    };
    expect(await score(source(slow, Infinity), { timeout: 1e-3 })).toEqual([1, 2, 3]);
  });

  test('a timeout of months does not end after a millisecond', async () => {
    const slow = source(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return [1, 2, 3];
    });
    expect(await score(slow, { timeout: 1e7 })).toEqual([1, 2, 3]);
  });

  test('each new score restarts the timeout', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let report: ScoreContext['onScored'];
    const slow = source((_, { onScored }) => {
      report = onScored;
      return never();
    });
    const pending = score(slow, { timeout: 0.1 }).catch((error: Error) => error.message);
    for (const i of [0, 1]) {
      await vi.advanceTimersByTimeAsync(99);
      report!(i);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(await pending).toContain(
      'within 0.1 s, got none for sample 2 (the response is "def", the prompt "a b"), so',
    );
  });

  test("an abort by the caller rejects with the caller's reason", async () => {
    const controller = new AbortController();
    const reason = new Error('Ctrl-C');
    let seen: AbortSignal | undefined;
    const hung = source((_, { signal }) => {
      seen = signal;
      return never();
    });
    const pending = score(hung, { signal: controller.signal, timeout: 1e6 });
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    expect(seen?.aborted).toBe(true);
    await expect(score(source(never), { signal: controller.signal })).rejects.toBe(reason);
  });
});

const check = (scores: unknown) => checkScores(scores, { name: 'judge', samples });

describe('checkScores()', () => {
  test('accepts numbers, and lists with one number per token', () => {
    const scores = [1, [2], Float32Array.of(3, 4, 5)];
    expect(check(scores)).toEqual(scores);
    expect(check(Float32Array.of(1, 2, 3))).toEqual([1, 2, 3]);
  });

  test.each([
    [undefined, 'they must be a list of 3, got undefined'],
    [{ 0: 1, length: 1 }, 'they must be a list of 3, got a value of type object'],
    ['123', 'they must be a list of 3, got "123"'],
    [[1, 2], 'there must be 3, got 2'],
    [[1, 2, 3, 4], 'there must be 3, got 4'],
    [[1, Number.NaN, 3], 'the score of sample 1 must be a finite number, got NaN'],
    [[1, 2, -Infinity], 'the score of sample 2 must be a finite number, got -Infinity'],
    [[1, 2, 1e39], 'the score of sample 2 must be a finite number, got 1e+39'],
    [['1', 2, 3], 'the score of sample 0 must be a finite number, got "1"'],
    [[null, 2, 3], 'the score of sample 0 must be a finite number, got null'],
    [[true, 2, 3], 'the score of sample 0 must be a finite number, got a value of type boolean'],
    [[[1], 2, 3], 'the score of sample 0 must be one number, or one per token (2), got 1'],
    [
      [1, 2, [3, 4, Number.NaN]],
      'the score of sample 2 must be a finite number at token 2, got NaN',
    ],
    [[1, 2, [3, [4], 5]], 'the score of sample 2 must be a finite number at token 1, got an array'],
  ])('rejects %j', (scores, problem) => {
    expect(() => check(scores)).toThrow(`Cannot use the scores of "judge": ${problem}`);
  });

  test('counts samples from the index of the first', () => {
    expect(() => checkScores([Number.NaN, 1, 1], { name: 'judge', samples, first: 16 })).toThrow(
      'the score of sample 16 must be',
    );
  });
});

describe('combineScores()', () => {
  test('matches the worked example', () => {
    const { scores, tokenScores, bySource } = combineScores(samplesOf('ab'), [
      { name: 'a', weight: 1, scores: [1] },
      { name: 'b', weight: 0.5, scores: [[2, 4]] },
    ]);
    expect([...scores]).toEqual([4]);
    expect([...tokenScores!]).toEqual([1, 2]);
    expect([...bySource].map(([name, own]) => [name, ...own])).toEqual([
      ['a', 1],
      ['b', 6],
    ]);
  });

  test('returns no token scores if no source has any', () => {
    const source = { name: 'a', weight: -2, scores: [1, 3] };
    const { scores, tokenScores } = combineScores(samplesOf('ab', 'c'), [source]);
    expect([...scores]).toEqual([-2, -6]);
    expect(tokenScores).toBeUndefined();
  });

  test('a source may score the tokens of only some samples', () => {
    const scores = [[1, 2], 5, Float32Array.of(3)];
    const combined = combineScores(samplesOf('ab', 'cde', 'f'), [
      { name: 'a', weight: 1, scores },
      { name: 'b', weight: 10, scores: [[1, 1], 1, 1] },
    ]);
    expect([...combined.scores]).toEqual([23, 15, 13]);
    expect([...combined.tokenScores!]).toEqual([11, 12, 0, 0, 0, 3]);
  });
});

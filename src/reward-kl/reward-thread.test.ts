import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { samplesOf } from '../../test/helpers/reward-samples.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { loadNamedReward, loadRewardFile } from './load-reward-file.ts';
import { RewardComputer, type RewardComputerConfig } from './reward-computer.ts';
import type { RewardSource } from './reward-source.ts';
import { scoreWith } from './score-samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'proximal-rewards-'));
const file = join(folder, 'reward.ts');
/** One line per reward, so that lines can be counted. */
const lines = [
  'type Sample = { response: string; tokens: Int32Array; promptIdx: number };',
  'let calls = 0;',
  'const words = ({ response }: Sample): number => {',
  '  if (response === "c") throw new RangeError("c is not a word");',
  '  return response.length;',
  '};',
  'const loop = ({ response }: Sample) => { while (response === "c") calls++; return 1; };',
  'const perToken = async ({ tokens }: Sample) => Float64Array.from(tokens, (_, t) => t / 2);',
  'const printer = ({ response }: Sample) => {',
  '  console.log("first", { response }); process.stdout.write("sec"); console.error("ond");',
  '  while (response === "c") calls++;',
  '  return calls;',
  '};',
  'const waits = (_: Sample, { signal }: { signal: AbortSignal }) =>',
  '  new Promise((_, reject) => signal.addEventListener("abort", () => { console.log("aborted"); reject(signal.reason); }));',
  'const exits = () => process.exit(3);',
  'const later = () => { setTimeout(() => { throw new Error("too late"); }, 500); return 1; };',
  'const count = () => ++calls;',
  'const infinite = ({ promptIdx }: Sample) => promptIdx === 1 ? Infinity : 0;',
  'const strange = () => () => 1;',
  'export default { words, loop, perToken, printer, waits, exits, later, count, infinite, strange };',
];
const samples = samplesOf('ab', 'c', 'def');
const { signal } = new AbortController();
let sources: ReadonlyMap<string, RewardSource>;
let printed = '';
const score = (name: string, options: { signal?: AbortSignal; timeout?: number } = {}) =>
  scoreWith(sources.get(name)!, samples, { signal, timeout: 60, ...options });

beforeAll(async () => {
  writeFileSync(file, lines.join('\n'));
  const loaded = await loadRewardFile(file);
  sources = new Map(loaded.map(({ source }) => [source.name, source]));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});

afterAll(() => {
  vi.restoreAllMocks();
  sources.get('words')!.dispose!();
  rmSync(folder, { recursive: true });
});

describe('a reward file in its thread', () => {
  test('returns scores per response and per token, and is imported once', async () => {
    expect(await score('perToken')).toEqual([[0, 0.5], [0], [0, 0.5, 1]]);
    expect(await score('count')).toEqual([1, 2, 3]);
    expect(await score('count')).toEqual([4, 5, 6]);
  });

  test('an exception names the file, the line, the response and the prompt, without a stack', async () => {
    const error = await score('words').catch((thrown: Error) => thrown);
    expect(error).toMatchObject({
      name: 'RewardError',
      message: `Cannot score sample 1 with "words": c is not a word (RangeError at ${file}:4); the response is "c", the prompt "a b"`,
      // Shown only for debugging.
      cause: { stack: expect.stringMatching(/^RangeError: c is not a word\n +at .*:4:/) },
    });
  });

  test.each([
    [
      'infinite',
      'the score of sample 1 must be a finite number, got Infinity; the response is "c"',
    ],
    ['strange', 'the score of sample 0 must be a finite number, got a value of type function;'],
  ])('rejects the scores of %s', async (name, problem) => {
    await expect(score(name)).rejects.toThrow(`Cannot use the scores of "${name}": ${problem}`);
  });

  test('a reward that never yields is stopped by the timeout, which names its response', async () => {
    await expect(score('loop', { timeout: 1 })).rejects.toThrow(
      'Cannot score with "loop": it must return a score within 1 s, got none for 2 samples, the first is 1 (the response is "c", the prompt "a b"), so scoring was stopped',
    );
    // The next call starts the file again.
    expect(await score('count')).toEqual([1, 2, 3]);
  });

  test('what it prints arrives in order, even if it then hangs', async () => {
    printed = '';
    const stop = new AbortController();
    const hung = score('printer', { signal: stop.signal });
    hung.catch(() => {});
    await vi.waitFor(() => expect(printed).toContain("'c' }\nsecond\n"), { timeout: 30_000 });
    const start = performance.now();
    stop.abort(new Error('Ctrl-C'));
    await expect(hung).rejects.toThrow('Ctrl-C');
    expect(performance.now() - start).toBeLessThan(100);
    expect(printed).toBe("first { response: 'ab' }\nsecond\nfirst { response: 'c' }\nsecond\n");
  });

  test("an abort fires the reward's own signal before the thread ends", async () => {
    printed = '';
    const stop = new AbortController();
    const waiting = score('waits', { signal: stop.signal });
    // The thread has loaded once it has scored something else.
    await score('count');
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await vi.waitFor(() => expect(printed).toContain('aborted\n'));
  });

  test('process.exit() and late exceptions are errors', async () => {
    await expect(score('exits')).rejects.toThrow(
      'Cannot score with "exits": its thread ended with code 3',
    );
    await score('later');
    await vi.waitFor(
      () => expect(score('count')).rejects.toThrow(/too late \(Error at .*reward\.ts:17\)$/),
      { timeout: 20_000 },
    );
  });
});

test('the reward that hangs is blamed, not another of its file that waits for it', async () => {
  const mixed = join(makeTempFolder(), 'mixed.ts');
  writeFileSync(
    mixed,
    `export default {
      slow: () => new Promise((resolve) => setTimeout(resolve, 200, 1)),
      loop: () => { while (true); },
    };`,
  );
  const computer = new RewardComputer({
    config: {} as RewardComputerConfig,
    sources: await loadRewardFile(mixed),
    rewardTimeout: 1.5,
  });
  await expect(computer.score(samples)).rejects.toThrow('Cannot score with "loop"');
});

test('the import of a file that never ends is stopped by its signal', async () => {
  const endless = join(makeTempFolder(), 'endless.js');
  writeFileSync(endless, 'while (true);');
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('Ctrl-C')), 300);
  await expect(loadRewardFile(endless, { signal: stop.signal })).rejects.toThrow('Ctrl-C');
});

test('a regular expression that takes forever is stopped by the timeout and by the signal', async () => {
  const options = { pattern: '^(a+)+$' };
  const [loaded] = await loadNamedReward({ name: 'regex', options, weight: 2 }, { name: 'all' });
  const { source, weight } = loaded!;
  expect(weight).toBe(2);
  expect(await scoreWith(source, samplesOf('aa', 'b'), { signal, timeout: 60 })).toEqual([1, 0]);
  const endless = samplesOf('aa', `${'a'.repeat(60)}!`);
  await expect(scoreWith(source, endless, { signal, timeout: 1 })).rejects.toThrow(
    'Cannot score with "all": it must return a score within 1 s, got none for sample 1',
  );
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('Ctrl-C')), 300);
  await expect(scoreWith(source, endless, { signal: stop.signal, timeout: 60 })).rejects.toThrow(
    'Ctrl-C',
  );
  expect(await scoreWith(source, samplesOf('a'), { signal, timeout: 60 })).toEqual([1]);
  source.dispose!();
});

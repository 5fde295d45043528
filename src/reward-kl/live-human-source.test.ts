import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { samplesOf } from '../../test/helpers/reward-samples.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import {
  type LiveHumanListener,
  type LiveHumanOptions,
  LiveHumanSource,
} from './live-human-source.ts';

const { signal } = new AbortController();
const samples = samplesOf('one', 'two');

interface RequestLine {
  readonly id?: string;
  readonly step?: number;
  readonly response?: string;
  readonly closed?: readonly string[];
}

function openSource({
  folder = makeTempFolder(),
  step = 1,
  ...options
}: LiveHumanOptions & { folder?: string; step?: number } = {}) {
  const source = new LiveHumanSource(folder, options);
  const [missing, warnings]: [number[], string[]] = [[], []];
  /** Called with every poll. */
  let onPoll: (missing: number) => void = () => {};
  const listener: LiveHumanListener = {
    step: () => step,
    onWait: async (count) => {
      if (missing.at(-1) !== count) missing.push(count);
      onPoll(count);
    },
    warn: async (message) => void warnings.push(message),
  };
  source.listen(listener);
  const requests = () =>
    readFileSync(join(folder, 'requests.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as RequestLine);
  const idOf = (response: string) => requests().find((line) => line.response === response)!.id!;
  const write = (text: string) => appendFileSync(join(folder, 'scores.jsonl'), text);
  const addScore = (response: string, score: number | null, labeller = 'Ada') =>
    write(`${JSON.stringify({ request: idOf(response), score, labeller, time: 'now' })}\n`);
  const score = (poll: (missing: number) => void = () => {}) => {
    onPoll = poll;
    return source.score(samples, { signal });
  };
  return { folder, source, missing, warnings, requests, write, addScore, idOf, score };
}

describe('LiveHumanSource', () => {
  test('requests every response, waits for all scores, and averages labellers', async () => {
    const { score, addScore, missing, requests, idOf } = openSource({ step: 7 });
    const steps = [
      () => addScore('one', 1),
      () => addScore('one', 0, 'Bob'),
      () => addScore('one', null),
      () => addScore('one', 0.5),
      () => addScore('two', -1),
    ];
    // Ada replaces her 1 by ½, so the response has (½ + 0)/2.
    expect(await score(() => steps.shift()?.())).toEqual([0.25, -1]);
    expect(missing).toEqual([2, 1, 0]);
    expect(requests().map(({ step, response }) => [step, response])).toEqual([
      [7, 'one'],
      [7, 'two'],
      [undefined, undefined],
    ]);
    expect(requests()[2]!.closed).toEqual([idOf('one'), idOf('two')]);
  });

  test('waits for the rest of an incomplete line', async () => {
    const { score, write, idOf, warnings } = openSource();
    const line = (response: string) =>
      `{"request":"${idOf(response)}","score":2,"labeller":"é","time":""}\n`;
    let polls = 0;
    const scored = score(() => {
      polls++;
      if (polls === 1) write(line('one') + line('two').slice(0, 30));
      if (polls === 3) write(line('two').slice(30));
    });
    expect(await scored).toEqual([2, 2]);
    expect(polls).toBe(4);
    expect(warnings).toEqual([]);
  });

  test('skips an invalid line and warns once', async () => {
    const { score, write, addScore, warnings, folder } = openSource();
    const steps = [
      () => write('{"score":1}\n'),
      () => addScore('one', 1),
      () => addScore('two', 2),
    ];
    expect(await score(() => steps.shift()?.())).toEqual([1, 2]);
    expect(warnings).toEqual([
      `Skipping ${join(folder, 'scores.jsonl')} line 1: it must be a score ({ request, score, labeller, time }), got "{\\"score\\":1}"`,
    ]);
  });

  test('after a restart, finds existing scores and does not repeat requests', async () => {
    const first = openSource();
    const stop = new AbortController();
    first.source.listen({
      step: () => 1,
      onWait: async () => stop.abort(new Error('killed')),
      warn: async () => {},
    });
    await expect(first.source.score(samples, { signal: stop.signal })).rejects.toThrow('killed');
    first.addScore('one', 0.5);
    const second = openSource({ folder: first.folder });
    expect(await second.score((missing) => missing > 0 && second.addScore('two', 1))).toEqual([
      0.5, 1,
    ]);
    expect(second.missing[0]).toBe(1);
    expect(second.requests()).toHaveLength(3);
    const third = openSource({ folder: first.folder });
    expect(await third.score()).toEqual([0.5, 1]);
    expect(third.missing).toEqual([0]);
  });

  test('the same texts in another step are new requests', async () => {
    const first = openSource({ step: 1, timeout: 1e-3, fallback: 0 });
    await first.score();
    const second = openSource({ folder: first.folder, step: 2, timeout: 1e-3, fallback: 0 });
    await second.score();
    const ids = second.requests().flatMap(({ id }) => id ?? []);
    expect(new Set(ids).size).toBe(4);
  });

  test('after the timeout, uses the fallback or throws', async () => {
    const patient = openSource({ timeout: 0.3, fallback: -0.5 });
    expect(await patient.score((missing) => missing === 2 && patient.addScore('two', 1))).toEqual([
      -0.5, 1,
    ]);
    expect(patient.missing).toEqual([2, 1, 0]);
    await expect(openSource({ timeout: 1e-3 }).score()).rejects.toThrow(
      'Cannot score with "human": scores must arrive within 0.001 s of each other, got none for 2 responses; score them and resume the run, raise humanTimeout, or set humanFallback',
    );
  });
});

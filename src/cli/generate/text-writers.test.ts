import { describe, expect, test, vi } from 'vitest';
import { TextInProgress } from './text-in-progress.ts';
import { jsonWriter, listWriter, streamWriter, type TextWriter } from './text-writers.ts';

const rules = { stop: ['!'], stopTokens: [9], maxTokens: 4 };
const event = (token: number, text: string) => ({
  prompt: 0,
  sample: 0,
  token,
  text,
  logprob: -token,
  samplingLogprob: -token / 2,
});

/** A text of two tokens, as it was placed. */
function place(prompt = 'Once upon') {
  const text = new TextInProgress(rules);
  return { prompt, promptIndex: 1, sample: 2, promptTokens: Int32Array.of(7), text };
}

/** Runs two tokens through a writer and gives what was written. */
function write(make: (output: { isTTY: boolean; write(text: string): true }) => TextWriter) {
  const written: string[] = [];
  const record = (text: string) => {
    written.push(text);
    return true as const;
  };
  const writer = make({ isTTY: false, write: record });
  const placed = place();
  for (const next of [event(5, ' a'), event(9, '')]) {
    writer.piece(placed.text.push(next), placed);
  }
  writer.piece(placed.text.finish(), placed);
  writer.done(placed);
  writer.close();
  return written.join('');
}

describe('TextInProgress', () => {
  test('is done at a stop token, a stop string or its length', () => {
    const [token, string, length] = [place().text, place().text, place().text];
    token.push(event(9, ''));
    string.push(event(5, 'a! b'));
    for (const text of ['a', 'b', 'c']) length.push(event(5, text));
    expect([token.isDone, string.isDone, length.isDone]).toEqual([true, true, false]);
    length.push(event(5, 'd'));
    expect(length.isDone).toBe(true);
    expect([token, string, length].map((text) => text.finishReason)).toEqual([
      'stop',
      'stop',
      'length',
    ]);
    expect([string.text, length.text]).toEqual(['a', 'abcd']);
  });
});

test('streamWriter() writes pieces and a last line break', () => {
  expect(write((output) => streamWriter(output, { chat: false }))).toBe(' a\n');
});

test('streamWriter() shows the prompt on a terminal, in a chat on a line of its own', () => {
  vi.stubEnv('NO_COLOR', '1');
  const terminal = (chat: boolean) =>
    write((output) => streamWriter({ ...output, isTTY: true }, { chat }));
  expect(terminal(false)).toBe('Once upon a\n');
  expect(terminal(true)).toBe('> Once upon\n a\n');
  vi.unstubAllEnvs();
});

test('listWriter() writes a whole text under a line that names it', () => {
  expect(write(listWriter)).toBe('── prompt 2, text 3: Once upon\n a\n\n');
});

test('jsonWriter() writes one line for a text', () => {
  expect(JSON.parse(write(jsonWriter))).toEqual({
    promptIndex: 1,
    sample: 2,
    prompt: 'Once upon',
    text: ' a',
    finishReason: 'stop',
    promptTokens: [7],
    tokens: [5, 9],
    pieces: [' a', ''],
    logprobs: [-5, -9],
    samplingLogprobs: [-2.5, -4.5],
  });
});

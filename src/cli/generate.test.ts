import { expect, test, vi } from 'vitest';
import { jsonWriter, listWriter, SpeedMeter, streamWriter, type TextWriter } from './generate.ts';

const prompt = 'Once upon';
const text = {
  prompt: 1,
  sample: 2,
  promptTokens: Int32Array.of(7),
  tokens: Int32Array.of(5, 9),
  pieces: [' a', ''],
  text: ' a',
  logprobs: Float32Array.of(-5, -9),
  samplingLogprobs: Float32Array.of(-2.5, -4.5),
  finishReason: 'stop',
} as const;

/** Passes two tokens through a writer and returns the output. */
function write(make: (output: { isTTY: boolean; write(text: string): true }) => TextWriter) {
  const written: string[] = [];
  const record = (text: string) => {
    written.push(text);
    return true as const;
  };
  const writer = make({ isTTY: false, write: record });
  for (const piece of text.pieces) writer.piece(piece, prompt);
  writer.done(text, prompt);
  writer.close();
  return written.join('');
}

test('streamWriter() writes pieces and a final line break', () => {
  expect(write((output) => streamWriter(output, { chat: false }))).toBe(' a\n');
});

test('streamWriter() shows the prompt on a terminal, on its own line in a chat', () => {
  vi.stubEnv('NO_COLOR', '1');
  const terminal = (chat: boolean) =>
    write((output) => streamWriter({ ...output, isTTY: true }, { chat }));
  expect(terminal(false)).toBe('Once upon a\n');
  expect(terminal(true)).toBe('> Once upon\n a\n');
  vi.unstubAllEnvs();
});

test('listWriter() writes a complete text under a line that names it', () => {
  expect(write(listWriter)).toBe('── prompt 2, text 3: Once upon\n a\n\n');
});

test('jsonWriter() writes one line per text', () => {
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

/** Describes tokens that arrived at these times, in milliseconds. */
function describeTokens(...times: number[]): string {
  let index = 0;
  const meter = new SpeedMeter(() => times[index++]!);
  for (const _ of times) meter.count();
  return meter.describe();
}

test('SpeedMeter measures from the first token on', () => {
  expect(describeTokens(5000, 5250, 5500)).toBe('3 tokens, 4.0 tokens/s');
  expect(describeTokens(0, 10, 20, 30)).toBe('4 tokens, 100 tokens/s');
});

test('SpeedMeter reports no speed for a single token', () => {
  expect(describeTokens(7)).toBe('1 token');
});

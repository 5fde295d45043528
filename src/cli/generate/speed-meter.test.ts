import { expect, test } from 'vitest';
import { SpeedMeter } from './speed-meter.ts';

/** What is said about tokens that came at these milliseconds. */
function describeTokens(...times: number[]): string {
  let index = 0;
  const meter = new SpeedMeter(() => times[index++]!);
  for (const _ of times) meter.count();
  return meter.describe();
}

test('SpeedMeter counts from the first token on', () => {
  expect(describeTokens(5000, 5250, 5500)).toBe('3 tokens, 4.0 tokens/s');
  expect(describeTokens(0, 10, 20, 30)).toBe('4 tokens, 100 tokens/s');
});

test('SpeedMeter knows no speed of a single token', () => {
  expect(describeTokens(7)).toBe('1 token');
});

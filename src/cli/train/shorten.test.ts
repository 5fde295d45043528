import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { quote, shorten } from './shorten.ts';

test('shorten() gives the path from here, and leaves ids on the hub', () => {
  expect(shorten(resolve('runs/a'))).toBe('runs/a');
  expect(shorten(resolve('../other'))).toBe(resolve('../other'));
  expect(shorten('Qwen/Qwen3-0.6B')).toBe('Qwen/Qwen3-0.6B');
});

test('quote() quotes what a shell would take apart', () => {
  expect(quote('runs/a-1')).toBe('runs/a-1');
  expect(quote("my run's")).toBe("'my run'\\''s'");
});

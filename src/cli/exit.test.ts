import { afterEach, expect, test, vi } from 'vitest';
import { ConfigError } from '../config/parse-config.ts';
import { describeFailure, Interruption } from './exit.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('describeFailure() formats an error as one line', () => {
  const error = new Error('Cannot run:\n  node %3\n  failed');
  expect(describeFailure(error)).toEqual({ text: 'Cannot run: node %3 failed\n', exitCode: 1 });
  expect(describeFailure('odd')).toEqual({ text: 'odd\n', exitCode: 1 });
});

test('describeFailure() uses exit code 2 for a config error', () => {
  expect(describeFailure(new ConfigError('No'))).toEqual({ text: 'No\n', exitCode: 2 });
});

test('describeFailure() prints nothing for Ctrl-C', () => {
  expect(describeFailure(new Interruption())).toEqual({ text: '', exitCode: 130 });
});

test('describeFailure() shows the stack and the cause if PROXIMAL_DEBUG is 1', () => {
  vi.stubEnv('PROXIMAL_DEBUG', '1');
  const { text } = describeFailure(new Error('outer', { cause: new Error('inner') }));
  expect(text).toMatch(/^Error: outer\n {4}at /);
  expect(text).toMatch(/\[cause\]: Error: inner\n/);
});

import { describe, expect, test } from 'vitest';
import {
  hideUrlSecrets,
  stringifyWithoutSecrets,
  withoutEcho,
  withoutPassword,
  withoutSecrets,
} from './url-secrets.ts';

describe('withoutSecrets()', () => {
  test.each([
    ['https://me:pass@host/score?key=1#part', 'https://host/score'],
    ['https://token@host:8443/a@b/score', 'https://host:8443/a@b/score'],
    ['judge=http://host/score?key=1', 'judge=http://host/score'],
    ['vllm:http://me:pass@host:8000', 'vllm:http://host:8000/'],
    ['redis://me:pass@host:6379/0', 'redis://host:6379/0'],
    // Not valid: the port is too large, a slash in the password is not escaped.
    ['http://me:pass@host:99999/score?key=1', 'http://host:99999/score'],
    ['http://me:pa/ss@host/score', 'http://host/score'],
  ])('%s  →  %s', (url, shown) => {
    expect(withoutSecrets(url)).toBe(shown);
  });

  test.each(['http://Host:8000', 'reward.ts', 'keyword:me@home', ''])(
    'returns %j unchanged',
    (text) => {
      expect(withoutSecrets(text)).toBe(text);
    },
  );

  test('accepts a URL', () => {
    expect(withoutSecrets(new URL('http://me:pass@host/a?b'))).toBe('http://host/a');
  });
});

test('stringifyWithoutSecrets() changes every text of a value', () => {
  const value = { reward: ['http://me:pass@host/a?b', 'c@d'], seed: 1 };
  expect(stringifyWithoutSecrets(value)).toBe('{"reward":["http://host/a","c@d"],"seed":1}');
  expect(stringifyWithoutSecrets(undefined)).toBeUndefined();
});

test('hideUrlSecrets() changes every URL in a text', () => {
  expect(hideUrlSecrets('From redis://:pa@ss@a:1/0 to "https://me@b/c?key=1", not me@d?e')).toBe(
    'From redis://a:1/0 to "https://b/c?…", not me@d?e',
  );
});

test('withoutPassword() keeps the user and the query', () => {
  expect(withoutPassword('rediss://me:secret@host:6379/1')).toBe('rediss://me@host:6379/1');
  expect(withoutPassword('redis://:secret@host:6379/0?family=6')).toBe(
    'redis://host:6379/0?family=6',
  );
});

describe('withoutEcho()', () => {
  const headersWith = (authorization: string) =>
    new Headers({ 'content-type': 'application/json', authorization, 'x-key': 'own key' });

  test('hides headers, tokens, passwords and the query', () => {
    const url = new URL('http://host/score?key=abcd&v=2');
    const basic = `Basic ${Buffer.from('Ada:pass:word').toString('base64')}`;
    const text = `POST /score?key=abcd&v=2 by ${basic}, pass:word, abcd, own key of Ada`;
    expect(withoutEcho(text, { url, headers: headersWith(basic) })).toBe(
      'POST /score… by …, …, …, … of Ada',
    );
    const bearer = 'got token-1 in Bearer token-1';
    expect(withoutEcho(bearer, { url, headers: headersWith('Bearer token-1') })).toBe('got … in …');
  });

  test('leaves short values and a plain text', () => {
    const url = new URL('http://host/score?a=2');
    const text = 'application/json must have 2 fields';
    expect(withoutEcho(text, { url, headers: headersWith('Bearer abc') })).toBe(text);
  });
});

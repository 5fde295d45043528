import { describe, expect, test } from 'vitest';
import { hidePlaces, hidePlacesIn } from './hide-places.ts';

describe('hidePlaces()', () => {
  test.each([
    ['/home/me/data/prompts.jsonl', 'prompts.jsonl'],
    ['/home/my files/prompts.jsonl', 'prompts.jsonl'],
    ['model:/home/me/runs/rm=2', 'model:rm=2'],
    ['C:\\Users\\me\\p.txt', 'p.txt'],
    ['Saved /home/me/runs/a/checkpoints/checkpoint-000010.', 'Saved checkpoint-000010.'],
    ['Cannot read "/home/me/a.txt": (/etc/b/c)', 'Cannot read "a.txt": (c)'],
  ])('leaves the last name of the path in %j', (text, hidden) => {
    expect(hidePlaces(text)).toBe(hidden);
  });

  test.each([
    ['https://me:secret@host/score?key=abc=2', 'https://host/score?…'],
    ['http://host:8080/score', 'http://host:8080/score'],
  ])('takes passwords and queries out of %j', (text, hidden) => {
    expect(hidePlaces(text)).toBe(hidden);
  });

  test.each([
    'Qwen/Qwen3-0.6B',
    '/no_think {prompt}',
    'and/or/else',
    'runs/a',
    '{post}\n\nTL;DR:',
    '3/4 tokens/s',
  ])('leaves %j as it is', (text) => {
    expect(hidePlaces(text)).toBe(text);
  });

  test('hidePlacesIn() goes through lists and objects, and leaves numbers', () => {
    const config = { reward: ['/a/b/r.ts'], deep: { data: '/a/b.csv' }, seed: 0, none: null };
    expect(hidePlacesIn(config)).toEqual({
      reward: ['r.ts'],
      deep: { data: 'b.csv' },
      seed: 0,
      none: null,
    });
  });
});

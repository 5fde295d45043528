import { describe, expect, it } from 'vitest';
import { parseAnswer, parseLabeller, parseNewQueue } from './parse-request.ts';

const good = { task: '1', labeller: 'Ada', answer: { kind: 'pair', choice: 0 } };
const answer = (change: object) => () => parseAnswer({ ...good, ...change });
const rating = (value: unknown) => answer({ answer: { kind: 'rating', rating: value } });

describe('parseLabeller()', () => {
  it('trims spaces and composes accents', () => {
    expect(parseLabeller(' Jose\u0301 ', 'undo')).toBe('José');
  });

  it.each([
    ['', '""'],
    ['   ', '""'],
    ['x'.repeat(41), `"${'x'.repeat(41)}"`],
    ['a\nb', '"a\\nb"'],
    ['a\u001b[31mb', '"a\\u001b[31mb"'],
    ['a\u202eb', '"a\u202eb"'],
    ['\ud800', '"\\ud800"'],
    [undefined, 'nothing'],
    [7, '7'],
  ])('rejects %j', (name, got) => {
    expect(() => parseLabeller(name, 'undo')).toThrow(
      `Cannot undo: the labeller must be text of 1 to 40 characters without control characters, got ${got}`,
    );
  });

  it('counts characters, not code units', () => {
    expect(parseLabeller('🦊'.repeat(40), 'undo')).toBe('🦊'.repeat(40));
  });
});

describe('parseAnswer()', () => {
  it('accepts a complete answer', () => {
    expect(parseAnswer({ ...good, note: 'x' })).toEqual({ ...good, note: 'x' });
  });

  it.each<[string, () => unknown, string]>([
    ['no object', () => parseAnswer(null), 'it must be an object, got null'],
    ['no task', answer({ task: 1 }), 'task must be the id of a task, got 1'],
    [
      'no kind',
      answer({ answer: { choice: 0 } }),
      'answer must be an object whose kind is pair, rating or ranking, got {"choice":0}',
    ],
    [
      'a bad place',
      answer({ answer: { kind: 'pair', choice: 2 } }),
      'choice must be 0, 1, "tie" or "both-bad", got 2',
    ],
    ['rating 0', rating(0), 'rating must be a whole number from 1 to 5, got 0'],
    ['rating 6', rating(6), 'rating must be a whole number from 1 to 5, got 6'],
    ['rating 2.5', rating(2.5), 'rating must be a whole number from 1 to 5, got 2.5'],
    ['rating "3"', rating('3'), 'rating must be a whole number from 1 to 5, got "3"'],
    [
      'an order that is no list',
      answer({ answer: { kind: 'ranking', order: '01' } }),
      'order must be a list of places, got "01"',
    ],
    [
      'a long note',
      answer({ note: 'x'.repeat(2001) }),
      'note must have at most 2000 characters, got 2001',
    ],
    ['an unknown key', answer({ score: 1 }), 'it has no "score"'],
  ])('rejects %s', (_, parse, fault) => {
    expect(parse).toThrow(`Cannot save the answer: ${fault}`);
  });
});

describe('parseNewQueue()', () => {
  const queue = { name: 'x', kind: 'pair', source: { from: 'file', file: 'a.jsonl' } };
  it.each<[object, string]>([
    [{ name: 'a\u0000b' }, 'name must be text of 1 to 80 characters without control characters'],
    [{ kind: 'poll' }, 'kind must be pair, rating or ranking, got "poll"'],
    [
      { source: { from: 'web' } },
      'source must be an object whose from is compare, samples, generate or file',
    ],
    [
      { source: { from: 'file', file: 'a\u0000b' } },
      'file must be a path without control characters',
    ],
    [{ source: { from: 'file' } }, 'file must be a path without control characters, got nothing'],
    [{ limit: 0 }, 'limit must be a whole number from 1 to 100000, got 0'],
    [{ responses: 10 }, 'responses must be a whole number from 1 to 9, got 10'],
  ])('rejects %j', (change, fault) => {
    expect(() => parseNewQueue({ ...queue, ...change })).toThrow(
      `Cannot create the queue: ${fault}`,
    );
  });
});

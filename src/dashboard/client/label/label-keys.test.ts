import { describe, expect, test } from 'vitest';
import type { LabelTask } from '../../api.ts';
import { type Focus, type KeyPress, readKey } from './label-keys.ts';

const task = (kind: LabelTask['kind'], count: number): LabelTask => ({
  id: 't',
  kind,
  prompt: 'p',
  responses: Array.from({ length: count }, (_, i) => `r${i}`),
});
const pair = task('pair', 2);

function read(
  key: string,
  shown: LabelTask | undefined,
  more: Partial<KeyPress & { focus: Focus }> = {},
) {
  const { focus = 'other', ...press } = more;
  const plain = { key, ctrlKey: false, metaKey: false, altKey: false, repeat: false };
  return readKey({ ...plain, ...press }, { task: shown, focus });
}

describe('readKey()', () => {
  test('1, 2, 0 and x answer a pair', () => {
    expect(['1', '2', '0', 'x', 'X'].map((key) => read(key, pair))).toEqual([
      { type: 'pair', choice: 0 },
      { type: 'pair', choice: 1 },
      { type: 'pair', choice: 'tie' },
      { type: 'pair', choice: 'both-bad' },
      { type: 'pair', choice: 'both-bad' },
    ]);
    expect(['3', 'toString', 'Enter'].map((key) => read(key, pair))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('1 to 5 rate', () => {
    const rated = ['0', '1', '5', '6'].map((key) => read(key, task('rating', 1)));
    expect(rated).toEqual([
      undefined,
      { type: 'rating', rating: 1 },
      { type: 'rating', rating: 5 },
      undefined,
    ]);
  });

  test('1 to n rank, Backspace removes, Enter sends unless a button has the focus', () => {
    const ranking = task('ranking', 3);
    expect(read('3', ranking)).toEqual({ type: 'rank', response: 2 });
    expect(read('4', ranking)).toBeUndefined();
    expect(read('Backspace', ranking)).toEqual({ type: 'remove-last' });
    expect(read('Enter', ranking)).toEqual({ type: 'send' });
    expect(read('Enter', ranking, { focus: 'button' })).toBeUndefined();
    expect(read('3', ranking, { focus: 'button' })).toEqual({ type: 'rank', response: 2 });
  });

  test('u and Ctrl+Z undo, even if no task is left', () => {
    expect(read('u', undefined)).toEqual({ type: 'undo' });
    expect(read('z', pair, { ctrlKey: true })).toEqual({ type: 'undo' });
    expect(read('z', pair, { metaKey: true })).toEqual({ type: 'undo' });
    expect(read('z', pair)).toBeUndefined();
    expect(read('u', pair, { ctrlKey: true })).toBeUndefined();
  });

  test('typing text, held keys and shortcuts answer nothing', () => {
    expect(read('1', pair, { focus: 'text' })).toBeUndefined();
    expect(read('z', pair, { focus: 'text', ctrlKey: true })).toBeUndefined();
    expect(read('1', pair, { repeat: true })).toBeUndefined();
    expect(read('1', pair, { ctrlKey: true })).toBeUndefined();
    expect(read('1', pair, { altKey: true })).toBeUndefined();
    expect(read('1', undefined)).toBeUndefined();
  });
});

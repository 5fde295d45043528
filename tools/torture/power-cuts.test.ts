import { describe, expect, test } from 'vitest';
import { randomStream } from '../../src/engine/random/index.ts';
import type { Operation } from './fs-journal.ts';
import { survive } from './power-cuts.ts';

const write = (handle: number, text: string): Operation => {
  const data = Buffer.from(text).toString('base64');
  return { op: 'write', handle, position: null, data };
};
const open = (handle: number, path: string, isNew = true): Operation => {
  return { op: 'open', handle, path, isNew, truncates: false, appends: true };
};

/** A new file is renamed over an old one, which was flushed. */
const replacement: readonly Operation[] = [
  { op: 'mkdir', path: '' },
  open(0, 'a'),
  write(0, 'old'),
  { op: 'sync', handle: 0 },
  open(1, 'a.tmp'),
  write(1, 'new'),
  { op: 'rename', from: 'a.tmp', to: 'a' },
];

/** What all fates of unflushed bytes leave, as texts by path. */
function outcomes(operations: readonly Operation[], cut: { time: number; names: number }) {
  const all = Array.from({ length: 200 }, (_, seed) => {
    const files = survive(operations, { ...cut, random: randomStream(seed) });
    const texts = [...files].flatMap(([path, bytes]) => (bytes === null ? [] : `${path}=${bytes}`));
    return texts.join(' ');
  });
  return [...new Set(all)].sort();
}

describe('survive()', () => {
  test('keeps flushed bytes and the old name until the rename', () => {
    expect(outcomes(replacement, { time: 7, names: 4 })).toEqual(['a=old']);
    expect(outcomes(replacement, { time: 3, names: 3 })).toEqual(
      ['a=', 'a=\0\0\0', 'a=o', 'a=ol', 'a=old'].sort(),
    );
  });

  test('a renamed file that was not flushed may be empty, zeros or a prefix', () => {
    expect(outcomes(replacement, { time: 7, names: 7 })).toEqual(
      ['a=', 'a=\0\0\0', 'a=n', 'a=ne', 'a=new'].sort(),
    );
  });

  test('a renamed file that was flushed is complete', () => {
    const flushed = replacement.toSpliced(6, 0, { op: 'sync', handle: 1 });
    expect(outcomes(flushed, { time: 8, names: 8 })).toEqual(['a=new']);
    expect(outcomes(flushed, { time: 8, names: 7 })).toEqual(['a=old a.tmp=new']);
  });

  test('files move with their folder, and appended bytes follow flushed ones', () => {
    const operations: readonly Operation[] = [
      { op: 'mkdir', path: '' },
      { op: 'mkdir', path: 'tmp' },
      open(0, 'tmp/log'),
      write(0, 'one '),
      { op: 'sync', handle: 0 },
      { op: 'rename', from: 'tmp', to: 'final' },
      open(1, 'final/log', false),
      write(1, '2'),
    ];
    expect(outcomes(operations, { time: 8, names: 8 })).toEqual(
      ['final/log=one ', 'final/log=one \0', 'final/log=one 2'].sort(),
    );
    expect(outcomes(operations, { time: 8, names: 5 })).toEqual(
      ['tmp/log=one ', 'tmp/log=one \0', 'tmp/log=one 2'].sort(),
    );
  });

  test('bytes after a truncation that is lost are lost too', () => {
    const operations: readonly Operation[] = [
      ...replacement.slice(0, 4),
      { op: 'truncate', handle: 0, size: 0 },
      write(0, 'x'),
    ];
    expect(outcomes(operations, { time: 6, names: 4 })).toEqual(['a=old']);
    expect(outcomes(operations, { time: 6, names: 5 })).toEqual(['a=', 'a=\0', 'a=x'].sort());
  });
});

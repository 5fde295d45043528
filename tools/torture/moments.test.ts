import { describe, expect, test } from 'vitest';
import { randomStream } from '../../src/engine/random/index.ts';
import type { Operation } from './fs-journal.ts';
import { chooseOperation } from './moments.ts';

const open = (handle: number, path: string): Operation => ({
  ...{ op: 'open', handle, path, isNew: true, truncates: true, appends: false },
});
const write = (handle: number): Operation => ({ op: 'write', handle, position: null, data: '' });
const save = (step: number): Operation[] => [
  open(step, `checkpoints/a-${step}.tmp`),
  write(step),
  { op: 'rename', from: `checkpoints/a-${step}.tmp`, to: `checkpoints/checkpoint-00000${step}` },
];
const operations = [open(9, 'log.jsonl'), ...save(1), write(9), ...save(2), write(9)];
const twin = { operations, folder: '', milliseconds: 0, bytes: 0 };

/** All choices of 200 seeds. */
function choices(after?: string): string[] {
  const all = Array.from({ length: 200 }, (_, seed) => {
    const { number, moment } = chooseOperation(twin, { random: randomStream(seed), after });
    return `${number}: ${moment}`;
  });
  return [...new Set(all)].sort();
}

describe('chooseOperation()', () => {
  test('returns each operation of a run with its moment', () => {
    expect(choices()).toEqual([
      '0: 0 open log.jsonl',
      '1: 0 open checkpoints/a-#.tmp',
      '2: 0 write checkpoints/a-#.tmp',
      '3: 0 rename checkpoints/checkpoint-#',
      '4: 0 write log.jsonl',
      '5: 1 open checkpoints/a-#.tmp',
      '6: 1 write checkpoints/a-#.tmp',
      '7: 1 rename checkpoints/checkpoint-#',
      '8: 1 write log.jsonl',
    ]);
  });

  test('returns only operations after a checkpoint, with moments of the resumed run', () => {
    expect(choices('checkpoint-000001')).toEqual([
      '4: 0 write log.jsonl',
      '5: 0 open checkpoints/a-#.tmp',
      '6: 0 write checkpoints/a-#.tmp',
      '7: 0 rename checkpoints/checkpoint-#',
      '8: 1 write log.jsonl',
    ]);
    expect(choices('checkpoint-000002')).toEqual(['8: 0 write log.jsonl']);
  });
});

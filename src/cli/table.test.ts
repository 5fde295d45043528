import { expect, test } from 'vitest';
import { formatTable } from './table.ts';

test('formatTable() aligns columns to the left or right', () => {
  const rows = [
    ['a', '1', 'x'],
    ['bc', '23', ''],
  ];
  expect(formatTable(rows, 'lrl')).toBe('  a    1  x\n  bc  23');
});

test('formatTable() continues text of the last column below itself, and splits no path', () => {
  const rows = [
    ['model', 'runs/a/model (LoRA adapter in PEFT format)'],
    ['run', '/a/very/long/path/that/is/one/word'],
  ];
  expect(formatTable(rows, 'll', { width: 30 })).toBe(
    [
      '  model  runs/a/model (LoRA',
      '         adapter in PEFT',
      '         format)',
      '  run    /a/very/long/path/that/is/one/word',
    ].join('\n'),
  );
});

test('formatTable() puts a label that is too long on its own line', () => {
  const rows = [
    ['', 'before', 'after'],
    ['reward', '1.000', '2.000'],
    ['  of a_name_that_is_too_long', '3.000', '4.000'],
    ['  of a_name_that_is_longer_than_any_line_of_it', '5.000', '6.000'],
  ];
  expect(formatTable(rows, 'lrr', { width: 42 })).toBe(
    [
      '          before  after',
      '  reward   1.000  2.000',
      '    of a_name_that_is_too_long',
      '           3.000  4.000',
      '    of a_name_that_is_…than_any_line_of_it',
      '           5.000  6.000',
    ].join('\n'),
  );
});

test('formatTable() repeats the labels for columns that do not fit', () => {
  const rows = [
    ['', 'first', 'second', 'third'],
    ['reward', '1', '2', '3'],
  ];
  expect(formatTable(rows, 'lrrr', { width: 23 })).toBe(
    [
      '          first  second',
      '  reward      1       2',
      '',
      '          third',
      '  reward      3',
    ].join('\n'),
  );
});

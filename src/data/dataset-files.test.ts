import { describe, expect, test } from 'vitest';
import { chooseDataFiles, findMissingParts, parseDatasetId } from './dataset-files.ts';

const choose = (names: readonly string[], split: string, folder = '') =>
  chooseDataFiles(names, { id: 'owner/name', revision: 'main', folder, split });

describe('chooseDataFiles()', () => {
  test('returns the parts of a split in order', () => {
    const train = ['data/train-00000-of-00002-a1.parquet', 'data/train-00001-of-00002-b2.parquet'];
    const names = ['README.md', train[1]!, train[0]!, 'data/test-00000-of-00001.parquet'];
    expect(choose(names, 'train')).toEqual(train);
    expect(choose(names, 'test')).toEqual(['data/test-00000-of-00001.parquet']);
  });

  test('prefers Parquet to JSON Lines to CSV to JSON', () => {
    const names = ['train.json', 'train.csv', 'train.jsonl.gz', 'train.parquet', 'train.txt'];
    expect(choose(names, 'train')).toEqual(['train.parquet']);
    expect(choose(names.slice(0, 3), 'train')).toEqual(['train.jsonl.gz']);
    expect(choose(names.slice(0, 2), 'train')).toEqual(['train.csv']);
    expect(choose(['train.json', 'train.txt'], 'train')).toEqual(['train.json']);
  });

  test('recognises a split by a folder, a word or a synonym', () => {
    expect(choose(['train/a.jsonl', 'train/b.jsonl', 'test/a.jsonl'], 'train')).toEqual([
      'train/a.jsonl',
      'train/b.jsonl',
    ]);
    expect(choose(['my_train_v2.csv', 'my_dev_v2.csv'], 'validation')).toEqual(['my_dev_v2.csv']);
    expect(choose(['train_sft.jsonl', 'train_gen.jsonl'], 'train_sft')).toEqual([
      'train_sft.jsonl',
    ]);
  });

  test('treats all files as train if no file names a split', () => {
    const names = ['.gitattributes', 'a.jsonl', 'b.jsonl', 'dataset_infos.json', 'script.py'];
    expect(choose(names, 'train')).toEqual(['a.jsonl', 'b.jsonl']);
    expect(() => choose(names, 'test')).toThrow(
      'Cannot find split "test" of owner/name: a file or folder must have its name, got a.jsonl, b.jsonl; set split',
    );
    expect(() => choose(['test.jsonl'], 'train')).toThrow('Cannot find split "train" of');
  });

  test('does not mix folders, or splits that share a word', () => {
    const names = ['main/train.parquet', 'socratic/train.parquet', 'socratic/test.parquet'];
    expect(() => choose(names, 'train')).toThrow(
      'Cannot choose split "train" of owner/name: its files must be in one group, got main, socratic; name a folder, as in owner/name/folder, or another split',
    );
    expect(choose(names, 'train', 'socratic')).toEqual(['socratic/train.parquet']);
    expect(() => choose(['train_sft.jsonl', 'train_gen.jsonl'], 'train')).toThrow(
      'got train_gen, train_sft;',
    );
  });

  test('rejects a dataset without readable files', () => {
    expect(() => choose(['README.md', 'load.py'], 'train')).toThrow(
      'Cannot read owner/name: it must have files that end in .parquet, .jsonl, .ndjson, .csv, .tsv, .json, .txt, got README.md, load.py',
    );
    expect(() => choose(['a/train.csv'], 'train', 'b')).toThrow('Cannot read owner/name/b: it');
  });
});

test('findMissingParts() uses the counts in the file names', () => {
  const part = (split: string, i: number) => `data/${split}-0000${i}-of-00003.parquet`;
  expect(findMissingParts([part('train', 0), part('train', 1), part('train', 2)])).toEqual([]);
  expect(findMissingParts([part('train', 0), part('train', 2), 'x.csv'])).toEqual([
    '1 of 3 parts of data/train',
  ]);
});

describe('parseDatasetId()', () => {
  test.each([
    ['openai/gsm8k', { id: 'openai/gsm8k', revision: 'main', folder: '' }],
    ['openai/gsm8k/socratic', { id: 'openai/gsm8k', revision: 'main', folder: 'socratic' }],
    ['a-b/c.d_e@v1.0/x/y z', { id: 'a-b/c.d_e', revision: 'v1.0', folder: 'x/y z' }],
  ])('reads %s', (text, expected) => {
    expect(parseDatasetId(text)).toEqual(expected);
  });

  test.each([
    'prompts',
    './a/b',
    '/a/b',
    '../a',
    'a/..',
    'a/b/../c',
    'a/b@../x',
    'a--b/c',
    'a//b',
    '~/a',
  ])('rejects %s, which could escape the cache', (text) => {
    expect(parseDatasetId(text)).toBeUndefined();
  });
});

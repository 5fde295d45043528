import { extensionOf, extensions } from './file-rows.ts';

/** A hub dataset, or a part of it. */
export interface DatasetId {
  /** `owner/name` */
  readonly id: string;
  /** Branch, tag or commit. */
  readonly revision: string;
  /** The only folder to use; empty for all. */
  readonly folder: string;
}

const idPattern = /^([\w-][\w.-]*\/[\w-][\w.-]*)(?:@([\w-][\w.-]*))?((?:\/[\w-][\w. -]*)*)$/;

/** Parses `owner/name` with an optional revision and folder; undefined if it is not such an id.
 *  @example openai/gsm8k@main/socratic
 *    →  { id: 'openai/gsm8k', revision: 'main', folder: 'socratic' } */
export function parseDatasetId(text: string): DatasetId | undefined {
  const [, id, revision = 'main', folder = ''] = idPattern.exec(text) ?? [];
  if (id === undefined || /--|\.\./.test(`${id}/${revision}`)) return undefined;
  return { id, revision, folder: folder.slice(1) };
}

/** Other names of the usual splits. */
const splitWords: Readonly<Record<string, readonly string[]>> = {
  train: ['train', 'training'],
  validation: ['validation', 'valid', 'val', 'dev'],
  test: ['test', 'testing', 'eval', 'evaluation'],
};
const usualWords = new Set(Object.values(splitWords).flat());

const shard = /-(\d{5})-of-(\d{5})/;

/** The files of a dataset that belong to a split, in the best available format. A file belongs to the
 *  split in its name or in the name of a folder above it; if no file names a split, all are `train`.
 *  @example train of ['README.md', 'data/test-00000-of-00001.parquet', 'data/train-00000-of-00001.parquet']
 *    →  ['data/train-00000-of-00001.parquet'] */
export function chooseDataFiles(
  names: readonly string[],
  { id, folder, split }: DatasetId & { readonly split: string },
): string[] {
  const data = names.filter((name) => isData(name) && isInside(name, folder)).sort();
  const title = folder === '' ? id : `${id}/${folder}`;
  if (data.length === 0) {
    throw new Error(
      `Cannot read ${title}: it must have files that end in ${extensions.join(', ')}, got ${list(names)}`,
    );
  }
  const { files, groupOf } = findSplit(data, split);
  if (files.length === 0) {
    throw new Error(
      `Cannot find split "${split}" of ${title}: a file or folder must have its name, got ${list(data)}; set split`,
    );
  }
  const best = extensions.find((extension) =>
    files.some((name) => extensionOf(name) === extension),
  );
  const chosen = files.filter((name) => extensionOf(name) === best);
  const groups = [...new Set(chosen.map(groupOf))];
  if (groups.length === 1) return chosen;
  throw new Error(
    `Cannot choose split "${split}" of ${title}: its files must be in one group, got ${list(groups)}; name a folder, as in ${id}/folder, or another split`,
  );
}

/** The parts of a split that are missing, according to the counts in the file names. */
export function findMissingParts(names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const [part, , count] = shard.exec(name) ?? [];
    if (part === undefined || count === undefined) return [];
    const prefix = name.slice(0, name.indexOf(part));
    const others = names.filter((other) => other.startsWith(`${prefix}-`) && shard.test(other));
    return others[0] === name && others.length < Number(count)
      ? [`${Number(count) - others.length} of ${Number(count)} parts of ${prefix}`]
      : [];
  });
}

interface SplitFiles {
  readonly files: readonly string[];
  /** Files of different groups are different data. */
  readonly groupOf: (name: string) => string;
}

function findSplit(data: readonly string[], split: string): SplitFiles {
  const exact = data.filter((name) => [...foldersOf(name), labelOf(name)].includes(split));
  if (exact.length > 0) return { files: exact, groupOf: folderOf };
  const words = splitWords[split] ?? [split];
  const similar = data.filter((name) => wordsOf(name).some((word) => words.includes(word)));
  if (similar.length > 0) {
    return { files: similar, groupOf: (name) => [...foldersOf(name), labelOf(name)].join('/') };
  }
  const unnamed = data.every((name) => !wordsOf(name).some((word) => usualWords.has(word)));
  return { files: split === 'train' && unnamed ? data : [], groupOf: folderOf };
}

function isData(name: string): boolean {
  return extensionOf(name) !== undefined && !/(^|\/)(\.|dataset_infos?\.json$)/.test(name);
}

function isInside(name: string, folder: string): boolean {
  return folder === '' || name.startsWith(`${folder}/`);
}

function foldersOf(name: string): string[] {
  return name.split('/').slice(0, -1);
}

function folderOf(name: string): string {
  return foldersOf(name).join('/') || 'the top';
}

/** @example 'data/train_sft-00000-of-00003-a1.parquet'  →  'train_sft' */
function labelOf(name: string): string {
  const base = name.slice(name.lastIndexOf('/') + 1).replace(/\.[a-z]+(\.gz)?$/i, '');
  return base.replace(/-\d{5}-of-\d{5}.*$/, '').replace(/[-_]?\d+$/, '');
}

function wordsOf(name: string): string[] {
  return name.toLowerCase().split(/[^a-z0-9]+/);
}

function list(names: readonly string[]): string {
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}` || 'none';
}

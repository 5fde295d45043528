import { expectRegular, statIfExists } from '../fs/index.ts';
import {
  catchRowError,
  type DataFile,
  type DataRow,
  type RowErrorHandler,
  throwRowError,
  toRow,
} from './data-row.ts';
import { parseDatasetId } from './dataset-files.ts';
import { extensionOf, readFileRows, readInSandbox } from './file-rows.ts';
import { type ResolveDatasetOptions, resolveDataset } from './resolve-dataset.ts';

/** Where rows come from: a file, a hub dataset, or values in memory. */
export type RowSource = string | readonly (string | Readonly<Record<string, unknown>>)[];

/** All options but `onRowError`, `onFile`, `noun` and `inSandbox` are for hub datasets. */
export interface ReadRowsOptions extends ResolveDatasetOptions {
  /** Handles unreadable rows; by default the first is thrown. */
  readonly onRowError?: RowErrorHandler;
  /** The name of an in-memory value in errors; `prompt` by default. */
  readonly noun?: string;
  /** Whether files of every format are parsed in the sandbox, so that none can block this process; only
   *  .parquet and .gz by default. */
  readonly inSandbox?: boolean;
}

/** Reads the rows of a source one at a time and in order; a source without rows is an error.
 *
 *  A file's extension decides how it is read: .parquet, .jsonl, .csv, .tsv, .json or .txt; text formats
 *  also with .gz. A string that is not a file is the id of a hub dataset, `owner/name`, of which one
 *  split is downloaded into Hugging Face's cache. */
export async function* readRows(
  source: RowSource,
  options: ReadRowsOptions = {},
): AsyncGenerator<DataRow> {
  const { onRowError = throwRowError, noun } = options;
  let isEmpty = true;
  const onBadRow: RowErrorHandler = (error) => {
    isEmpty = false;
    onRowError(error);
  };
  for await (const row of openRows(source, { ...options, onRowError: onBadRow })) {
    isEmpty = false;
    yield row;
  }
  if (isEmpty) {
    throw new RangeError(
      `Cannot read ${nameOf(source, noun)}: it must have at least one row, got none`,
    );
  }
}

/** The name of a source in errors. */
export function nameOf(source: RowSource, noun = 'prompt'): string {
  return typeof source === 'string' ? source : `the ${noun}s`;
}

/** Whether a source is a dataset on the hub rather than a file or values in memory. */
export async function isOnHub(source: RowSource): Promise<boolean> {
  if (typeof source !== 'string' || (await kindOfPath(source)) !== 'nothing') return false;
  return extensionOf(source) === undefined && parseDatasetId(source) !== undefined;
}

async function* openRows(
  source: RowSource,
  options: ReadRowsOptions & { readonly onRowError: RowErrorHandler },
): AsyncGenerator<DataRow> {
  const { onRowError, noun = 'prompt', inSandbox = false, ...hub } = options;
  if (typeof source !== 'string') {
    for (const [i, value] of source.entries()) {
      const row = catchRowError(() => toRow(value, `${noun} ${i + 1}`), onRowError);
      if (row !== undefined) yield row;
    }
    return;
  }
  for (const file of await findFiles(source, hub)) {
    hub.onFile?.(file);
    yield* inSandbox ? readInSandbox(file, { onRowError }) : readFileRows(file, onRowError);
  }
}

async function findFiles(
  source: string,
  options: ResolveDatasetOptions,
): Promise<readonly DataFile[]> {
  if (await isOnHub(source)) return resolveDataset(parseDatasetId(source)!, options);
  const kind = await kindOfPath(source);
  if (kind === 'file') return [{ path: source, name: source }];
  const got = kind === 'folder' ? 'a folder' : 'no such file';
  throw new Error(
    `Cannot read ${source}: it must be a file or a hub dataset such as "owner/name", got ${got}`,
  );
}

async function kindOfPath(path: string): Promise<'file' | 'folder' | 'nothing'> {
  const stats = await statIfExists(path);
  if (stats === undefined) return 'nothing';
  if (stats.isDirectory()) return 'folder';
  // Runs read their data twice, for the rows and for a checksum, and a pipe could block forever.
  expectRegular(path, { stats, action: 'read' });
  return 'file';
}

import { statIfExists } from '../fs/index.ts';
import { extensionOf, readFileRows } from './data-formats.ts';
import { type DataFile, type DataRow, toRow } from './data-row.ts';
import { parseDatasetId } from './dataset-id.ts';
import { type FaultHandler, orFault, throwFault } from './line-fault.ts';
import { type ResolveDatasetOptions, resolveDataset } from './resolve-dataset.ts';

/** Where rows come from: a file, a hub dataset, or values in memory. */
export type RowSource = string | readonly (string | Readonly<Record<string, unknown>>)[];

/** All but `onFault` and `noun` are for hub datasets. */
export interface ReadRowsOptions extends ResolveDatasetOptions {
  /** Takes rows that cannot be read; the first is thrown if not given. */
  readonly onFault?: FaultHandler;
  /** What errors call a value in memory; `prompt` by default. */
  readonly noun?: string;
}

/** The rows of a source, one at a time and in its order, at least one.
 *
 *  A file is read by its ending: .parquet, .jsonl, .csv, .tsv, .json or .txt, texts also with .gz.
 *  A text that names no file is the id of a dataset on the hub, `owner/name`; of its files those
 *  of one split are downloaded into Hugging Face's cache. */
export async function* readRows(
  source: RowSource,
  options: ReadRowsOptions = {},
): AsyncGenerator<DataRow> {
  const { onFault = throwFault, noun } = options;
  let isEmpty = true;
  const onBadRow: FaultHandler = (fault) => {
    isEmpty = false;
    onFault(fault);
  };
  for await (const row of openRows(source, { ...options, onFault: onBadRow })) {
    isEmpty = false;
    yield row;
  }
  if (isEmpty) {
    throw new RangeError(
      `Cannot read ${nameOf(source, noun)}: it must have at least one row, got none`,
    );
  }
}

/** What errors call a source. */
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
  options: ReadRowsOptions & { readonly onFault: FaultHandler },
): AsyncGenerator<DataRow> {
  const { onFault, noun = 'prompt', ...hub } = options;
  if (typeof source !== 'string') {
    for (const [i, value] of source.entries()) {
      const row = orFault(() => toRow(value, `${noun} ${i + 1}`), onFault);
      if (row !== undefined) yield row;
    }
    return;
  }
  for (const file of await findFiles(source, hub)) yield* readFileRows(file, onFault);
}

async function findFiles(
  source: string,
  options: ResolveDatasetOptions,
): Promise<readonly DataFile[]> {
  if (await isOnHub(source)) return resolveDataset(parseDatasetId(source)!, options);
  const kind = await kindOfPath(source);
  if (kind === 'file') return [{ path: source, name: source }];
  const got = kind === 'folder' ? 'a folder' : 'nothing of that name';
  throw new Error(
    `Cannot read ${source}: it must be a file, or a hub dataset such as "owner/name", got ${got}`,
  );
}

async function kindOfPath(path: string): Promise<'file' | 'folder' | 'nothing'> {
  const stats = await statIfExists(path);
  if (stats === undefined) return 'nothing';
  return stats.isDirectory() ? 'folder' : 'file';
}

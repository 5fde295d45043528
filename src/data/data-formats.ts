import { readCsv, readTsv } from './csv-rows.ts';
import type { DataFile, DataRow } from './data-row.ts';
import { readJson, readJsonLines, readTextLines } from './json-rows.ts';
import type { FaultHandler } from './line-fault.ts';
import { readParquet } from './parquet-rows.ts';

type RowReader = (file: DataFile, onFault?: FaultHandler) => AsyncGenerator<DataRow>;

/** How each kind of file is read; where a dataset has several, the first is taken. */
const readers: ReadonlyMap<string, RowReader> = new Map([
  ['.parquet', readParquet],
  ['.jsonl', readJsonLines],
  ['.ndjson', readJsonLines],
  ['.csv', readCsv],
  ['.tsv', readTsv],
  ['.json', readJson],
  ['.txt', readTextLines],
]);

/** The known endings of file names, best first. */
export const extensions: readonly string[] = [...readers.keys()];

/** The ending by which a file is read; text files may be packed, as `.jsonl.gz`.
 *  @example 'data/train.jsonl.gz'  →  '.jsonl' */
export function extensionOf(path: string): string | undefined {
  const [, extension, packed] = /(\.[a-z]+)(\.gz)?$/i.exec(path) ?? [];
  const known = extension?.toLowerCase();
  if (known === undefined || !readers.has(known)) return undefined;
  return known === '.parquet' && packed !== undefined ? undefined : known;
}

/** The rows of a file, by its ending. A row that cannot be read goes to `onFault`, which throws
 *  it if not given. */
export function readFileRows(file: DataFile, onFault?: FaultHandler): AsyncGenerator<DataRow> {
  const extension = extensionOf(file.path);
  if (extension !== undefined) return readers.get(extension)!(file, onFault);
  throw new TypeError(
    `Cannot read ${file.name}: its name must end with ${extensions.join(', ')}, or .gz after a text's; rename or convert it`,
  );
}

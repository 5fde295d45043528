import { AppendFile } from './append-file.ts';

/** Appends records to a file, each a line of JSON, in the order of the calls; without any there is no
 *  file. NaN and infinities become null, as JSON has no names for them; what is undefined is left out.
 *  @example { step: 1, 'loss/value_avg': NaN }  →  `{"step":1,"loss/value_avg":null}` */
export class JsonlWriter {
  private readonly file: AppendFile;

  constructor(path: string) {
    this.file = new AppendFile(path);
  }

  append<T extends { readonly step: number }>(record: T): void {
    this.file.append(Buffer.from(`${JSON.stringify(record)}\n`));
  }

  /** Brings all that was written to the disk. */
  sync(): void {
    this.file.sync();
  }

  close(): void {
    this.file.close();
  }
}

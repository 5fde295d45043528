import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';

/** Adds records to a file of JSON Lines and brings them to the disk. They are one write at the file's
 *  end, so that lines of several processes never mix. Half a line, as a crash leaves it, is closed
 *  first, and so is one that another process is writing at that moment, which leaves an empty line:
 *  readers pass over both. */
export function appendLines(path: string, records: readonly object[]): void {
  const descriptor = openSync(path, 'a+');
  try {
    const start = endsLine(descriptor) ? '' : '\n';
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    const bytes = Buffer.from(start + lines);
    const written = writeSync(descriptor, bytes);
    // The rest cannot follow: another process may have written behind the first part.
    if (written < bytes.length) {
      throw new Error(
        `Cannot write ${path}: the disk must take ${bytes.length} bytes, got ${written} of them; free space and try again`,
      );
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function endsLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  const last = Buffer.alloc(1);
  return size === 0 || readSync(descriptor, last, 0, 1, size - 1) === 0 || last[0] === 10;
}

import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolderSync } from './atomic-file.ts';
import { expectRegular } from './regular-file.ts';

/** Appends records to a JSON Lines file and flushes them to disk. All records go into a single write,
 *  so lines from several processes never mix. If the file ends in a partial line (after a crash, or
 *  because another process is writing), a line feed is added first; readers skip partial and empty
 *  lines. */
export function appendJsonLines(path: string, records: readonly object[]): void {
  const descriptor = openSync(path, 'a+');
  try {
    const stats = fstatSync(descriptor);
    expectRegular(path, { stats, action: 'write' });
    const start = endsWithLineFeed(descriptor, stats) ? '' : '\n';
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    const bytes = Buffer.from(start + lines);
    const written = writeSync(descriptor, bytes);
    // Writing the rest is not an option: another process may have appended after the first part.
    if (written < bytes.length) {
      const message = `ENOSPC: wrote ${written} of ${bytes.length} bytes, write '${path}'`;
      throw Object.assign(new Error(message), { code: 'ENOSPC', syscall: 'write', path });
    }
    fsyncSync(descriptor);
    // The file may be new.
    if (stats.size === 0) syncFolderSync(dirname(path));
  } finally {
    closeSync(descriptor);
  }
}

function endsWithLineFeed(descriptor: number, { size }: { readonly size: number }): boolean {
  const last = Buffer.alloc(1);
  return size === 0 || readSync(descriptor, last, 0, 1, size - 1) === 0 || last[0] === 10;
}

import { constants, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';

/** Most bytes of a text that is read as a whole, such as a tokenizer.json. */
const MAX_TEXT = 2 ** 28;

/** A file that exists but must not be read or written. */
export class UnusableFileError extends Error {
  override readonly name = 'UnusableFileError';
  /** The sentence without the file's folder. */
  readonly summary: string;

  constructor(path: string, { action, problem }: { action: string; problem: string }) {
    super(`Cannot ${action} ${path}: ${problem}`);
    this.summary = `Cannot ${action} ${basename(path)}: ${problem}`;
  }
}

/** Rejects what is not a regular file. */
export function expectRegular(
  path: string,
  { stats, action }: { readonly stats: Stats; readonly action: 'read' | 'write' },
): void {
  if (stats.isFile()) return;
  const problem = `it must be a regular file, got ${nameKind(stats)}; move it away`;
  throw new UnusableFileError(path, { action, problem });
}

function nameKind(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}

/** Flags that open a file for reading. If a named pipe has just replaced it, O_NONBLOCK does not wait for
 *  a writer. */
export const readFlags: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The text of a file that may come from others, such as the config of a model. Named pipes and devices,
 *  which could be read forever, are rejected, and so are files that do not fit into memory. */
export async function readRegularText(path: string): Promise<string> {
  const stats = await stat(path);
  expectRegular(path, { stats, action: 'read' });
  if (stats.size > MAX_TEXT) {
    const problem = `it must have at most ${MAX_TEXT / 2 ** 20} MiB, got ${stats.size} bytes`;
    throw new UnusableFileError(path, { action: 'read', problem });
  }
  const file = await open(path, readFlags);
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

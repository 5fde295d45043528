import { readFile } from 'node:fs/promises';

/** The lines of a log, of which there are none where nothing was written. */
export async function readJsonLines(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').filter((line) => line !== '');
}

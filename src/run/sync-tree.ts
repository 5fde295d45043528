import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Brings a folder with all it holds to the disk: files first, then the names that lead to them. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    // Windows flushes only what is open for writing.
    else await sync(path, process.platform === 'win32' ? 'r+' : 'r');
  }
  await syncFolder(folder);
}

/** Brings a folder's names to the disk, such as after a rename; Windows has no such call and needs none. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await sync(folder, 'r');
}

async function sync(path: string, flags: 'r' | 'r+'): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf } from './hub-server.ts';

/** Writes `owner/tiny` to the cache like Python's huggingface_hub; returns the folder of its commit. */
export function writePythonCache(
  cacheDir: string,
  files: Readonly<Record<string, string>>,
  commit = 'abcd'.padEnd(40, '1'),
): string {
  const root = join(cacheDir, 'models--owner--tiny');
  const snapshot = join(root, 'snapshots', commit);
  for (const folder of [snapshot, join(root, 'blobs'), join(root, 'refs')]) {
    mkdirSync(folder, { recursive: true });
  }
  writeFileSync(join(root, 'refs', 'main'), commit);
  for (const [name, text] of Object.entries(files)) {
    const hash = hashOf(name, text);
    writeFileSync(join(root, 'blobs', hash), text);
    symlinkSync(`../../blobs/${hash}`, join(snapshot, name));
  }
  return snapshot;
}

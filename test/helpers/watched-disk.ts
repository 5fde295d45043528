import fs, { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join, resolve, sep } from 'node:path';
import { onTestFinished } from 'vitest';

/** What a name in a folder refers to. */
interface Entry {
  readonly inode: number;
  readonly isFolder: boolean;
}

/** Takes the path of the file or folder that was flushed. */
type FlushListener = (path: string, disk: WatchedDisk) => void;

/** Knows what is on the disk below a folder for certain: the bytes of files and the entries of folders
 *  when they were last flushed. A power cut may lose everything else. It watches the calls of this process
 *  until the test ends. */
export class WatchedDisk {
  private readonly root: string;
  private readonly onFlush: FlushListener;
  /** Flushed bytes by inode. */
  private readonly files = new Map<number, Buffer>();
  /** Flushed entries by inode. */
  private readonly folders = new Map<number, ReadonlyMap<string, Entry>>();

  /** @param onFlush called after each flush */
  constructor(root: string, onFlush: FlushListener) {
    this.root = resolve(root);
    this.onFlush = onFlush;
    this.flush(this.root);
    this.watchSync();
    this.watchAsync();
    syncBuiltinESMExports();
  }

  /** The names in a folder that a power cut leaves; none if it leaves no such folder. */
  list(...names: string[]): string[] {
    const inode = this.find(names)?.inode;
    return [...((inode !== undefined && this.folders.get(inode)?.keys()) || [])];
  }

  /** The text of a file that a power cut leaves; undefined if it leaves no such file. */
  read(...names: string[]): string | undefined {
    const entry = this.find(names);
    return entry && (this.files.get(entry.inode)?.toString() ?? '');
  }

  /** Writes everything as a power cut would leave it. */
  copyTo(target: string, inode = lstatSync(this.root).ino): void {
    mkdirSync(target, { recursive: true });
    for (const [name, entry] of this.folders.get(inode) ?? []) {
      const path = join(target, name);
      if (entry.isFolder) this.copyTo(path, entry.inode);
      else writeFileSync(path, this.files.get(entry.inode) ?? '');
    }
  }

  private find(names: readonly string[]): Entry | undefined {
    let entry: Entry | undefined = { inode: lstatSync(this.root).ino, isFolder: true };
    for (const name of names) entry = entry && this.folders.get(entry.inode)?.get(name);
    return entry;
  }

  /** Remembers the state of a file or folder. */
  private flush(path: string): void {
    const { ino, isFolder } = describe(path);
    if (!isFolder) this.files.set(ino, readFileSync(path));
    else {
      const entries = readdirSync(path).map((name) => {
        const { ino: inode, isFolder: isInner } = describe(join(path, name));
        return [name, { inode, isFolder: isInner }] as const;
      });
      this.folders.set(ino, new Map(entries));
    }
    this.onFlush(path, this);
  }

  private isWatched(path: unknown): path is string {
    return typeof path === 'string' && `${resolve(path)}${sep}`.startsWith(`${this.root}${sep}`);
  }

  /** A new file may have the inode of a deleted one. */
  private forgetNew(path: string): void {
    const { ino, isFolder, size } = describe(path);
    if (!isFolder && size === 0) this.files.delete(ino);
  }

  private watchSync(): void {
    const paths = new Map<number, string>();
    replace(fs, 'openSync', (open, path, ...rest) => {
      const descriptor = open(path, ...rest);
      paths.delete(descriptor);
      if (this.isWatched(path)) {
        paths.set(descriptor, path);
        this.forgetNew(path);
      }
      return descriptor;
    });
    replace(fs, 'fsyncSync', (sync, descriptor) => {
      sync(descriptor);
      const path = paths.get(descriptor);
      if (path !== undefined) this.flush(path);
    });
    replace(fs, 'mkdirSync', (make, path, ...rest) => {
      const made = make(path, ...rest);
      if (this.isWatched(path)) this.folders.delete(describe(path).ino);
      return made;
    });
  }

  private watchAsync(): void {
    replace(promises, 'open', async (open, path, ...rest) => {
      const handle = await open(path, ...rest);
      if (!this.isWatched(path)) return handle;
      this.forgetNew(path);
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        await sync();
        this.flush(path);
      };
      return handle;
    });
    replace(promises, 'mkdir', async (make, path, ...rest) => {
      const made = await make(path, ...rest);
      if (made !== undefined && this.isWatched(path)) this.folders.delete(describe(path).ino);
      return made;
    });
  }
}

function describe(path: string) {
  const stats = lstatSync(path);
  return { ino: stats.ino, size: stats.size, isFolder: stats.isDirectory() };
}

/** Replaces a function of a module until the test ends. */
function replace<M extends object, K extends keyof M & string>(
  module: M,
  name: K,
  replacement: (original: Callable<M[K]>, ...args: Parameters<Callable<M[K]>>) => unknown,
): void {
  const original = module[name];
  const bound = (...args: Parameters<Callable<M[K]>>) =>
    replacement(original as Callable<M[K]>, ...args);
  Object.assign(module, { [name]: bound });
  onTestFinished(() => {
    Object.assign(module, { [name]: original });
    syncBuiltinESMExports();
  });
}

type Callable<F> = F extends (...args: infer A) => infer R ? (...args: A) => R : never;

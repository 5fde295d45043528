import { type FSWatcher, watch } from 'node:fs';
import type { RunLibrary } from './run-library.ts';

/** Milliseconds between two looks at living runs. */
const INTERVAL = 500;
/** Milliseconds in which changes are gathered: a step writes several files. */
const PAUSE = 50;

/** Keeps a library up to date while somebody looks: the system tells of changes where it can, and
 *  sizes are looked at besides, as network file systems tell nothing. */
export class RunWatch {
  private readonly library: RunLibrary;
  private readonly onError: (error: unknown) => void;
  private readonly watchers = new Map<string, FSWatcher>();
  private timer: NodeJS.Timeout | undefined;
  private soon: NodeJS.Timeout | undefined;

  constructor(library: RunLibrary, onError: (error: unknown) => void) {
    this.library = library;
    this.onError = onError;
  }

  start(): void {
    if (this.timer !== undefined) return;
    this.timer = setInterval(() => this.refresh(), INTERVAL).unref();
    this.refresh();
  }

  stop(): void {
    clearInterval(this.timer);
    clearTimeout(this.soon);
    this.timer = undefined;
    this.soon = undefined;
    for (const path of [...this.watchers.keys()]) this.forget(path);
  }

  private refresh(all = false): void {
    this.library.refresh({ all }).then(() => this.follow(), this.onError);
  }

  /** Watches the folders that are looked in and those of living runs. */
  private follow(): void {
    if (this.timer === undefined) return;
    const roots = new Set(this.library.folders);
    const wanted = new Set([...roots, ...this.library.livingFolders()]);
    for (const path of [...this.watchers.keys()]) if (!wanted.has(path)) this.forget(path);
    for (const path of wanted) {
      if (!this.watchers.has(path)) this.watch(path, roots.has(path));
    }
  }

  private watch(path: string, isRoot: boolean): void {
    try {
      const watcher = watch(path, { persistent: false }, () => {
        this.soon ??= setTimeout(() => {
          this.soon = undefined;
          this.refresh(isRoot);
        }, PAUSE).unref();
      });
      watcher.on('error', () => this.forget(path));
      this.watchers.set(path, watcher);
    } catch {
      // The folder is not there yet, or the system has no more watchers: the timer does it.
    }
  }

  private forget(path: string): void {
    this.watchers.get(path)?.close();
    this.watchers.delete(path);
  }
}

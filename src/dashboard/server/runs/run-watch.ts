import type { RunLibrary } from './run-library.ts';

export interface RunWatchOptions {
  /** Milliseconds between two looks. */
  readonly interval: number;
  readonly onError: (error: unknown) => void;
}

/** Keeps a library up to date while somebody looks. Sizes and times of files are looked at, which is
 *  little work and holds for network file systems too, which tell of no changes. */
export class RunWatch {
  private readonly library: RunLibrary;
  private readonly options: RunWatchOptions;
  private timer: NodeJS.Timeout | undefined;

  constructor(library: RunLibrary, options: RunWatchOptions) {
    this.library = library;
    this.options = options;
  }

  start(): void {
    const { interval, onError } = this.options;
    this.timer ??= setInterval(() => {
      this.library.refresh().catch(onError);
    }, interval).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

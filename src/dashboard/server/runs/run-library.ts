import { UnusableFileError } from '../../../fs/index.ts';
import type { DashboardEvent, RunSummary } from '../../api.ts';
import { RequestError } from '../http/request-error.ts';
import { type FoundRun, findRuns } from './find-runs.ts';
import { RunReader } from './run-reader.ts';
import { RunTables } from './run-tables.ts';

/** Number of runs whose tables are in memory; 100 000 steps are about 35 MB of metrics. */
const MAX_TABLES = 8;
/** Every how many refreshes to search for new runs and new states of ended ones. */
const SEARCH_EVERY = 2;
/** Every how many refreshes to check the logs of ended runs. */
const CHECK_ENDED_EVERY = 10;

/** The runs in some folders, kept up to date. */
export class RunLibrary {
  readonly folders: readonly string[];
  private readonly readers = new Map<string, RunReader>();
  /** By id, the least recently used first. */
  private readonly tables = new Map<string, RunTables>();
  private readonly onEvents: (events: readonly DashboardEvent[]) => void;
  private published: readonly RunSummary[] = [];
  /** Number of refreshes since the last full one. */
  private refreshes = 0;
  private refreshing: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  /** @param onEvents receives all changes of a refresh at once */
  constructor(folders: readonly string[], onEvents: (events: readonly DashboardEvent[]) => void) {
    this.folders = folders;
    this.onEvents = onEvents;
  }

  /** Summaries as of the last refresh, the newest run first. */
  list(): RunSummary[] {
    const summaries = [...this.readers.values()].flatMap(({ summary }) => summary ?? []);
    return summaries.sort((a, b) => compare(b.startedAt, a.startedAt) || compare(a.name, b.name));
  }

  /** The current runs. */
  async all(): Promise<readonly FoundRun[]> {
    await this.refresh({ all: true });
    return [...this.readers.values()];
  }

  /** Reads changes. Ended runs are checked less often than active ones, unless `all` is set. */
  refresh({ all = false }: { readonly all?: boolean } = {}): Promise<void> {
    if (this.refreshing !== undefined) return all ? this.refreshNext() : this.refreshing;
    if (all) this.refreshes = 0;
    this.refreshing = this.read().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Refreshes again after the current refresh, which may have missed the latest changes. */
  private refreshNext(): Promise<void> {
    const start = () => {
      this.next = undefined;
      return this.refresh({ all: true });
    };
    this.next ??= this.refreshing!.then(start, start);
    return this.next;
  }

  /** The run with an id. */
  async get(id: string): Promise<RunReader> {
    if (!this.readers.has(id)) await this.refresh({ all: true });
    const reader = this.readers.get(id);
    if (reader === undefined)
      throw new RequestError(404, 'There is no such run; it may have been deleted');
    return reader;
  }

  /** The tables of a run's logs. */
  async open(id: string): Promise<RunTables> {
    const { folder } = await this.get(id);
    const tables = this.tables.get(id) ?? new RunTables(folder);
    this.tables.delete(id);
    this.tables.set(id, tables);
    const [oldest] = this.tables.keys();
    if (this.tables.size > MAX_TABLES) this.tables.delete(oldest!);
    return tables;
  }

  /** Loads the newest run, which is usually opened first. */
  async preload(): Promise<void> {
    await this.refresh({ all: true });
    const [latest] = this.list();
    if (latest !== undefined) await (await this.open(latest.id)).preload();
  }

  private async read(): Promise<void> {
    const searches = this.refreshes % SEARCH_EVERY === 0;
    const checksEnded = this.refreshes % CHECK_ENDED_EVERY === 0;
    this.refreshes++;
    if (searches) await this.searchFolders();
    const events: DashboardEvent[] = [];
    for (const reader of [...this.readers.values()]) {
      const isDue =
        reader.isLiving || checksEnded || (searches && (await this.hasNewState(reader)));
      if (isDue) events.push(...(await this.update(reader)));
    }
    const runs = this.list();
    const isPublished =
      runs.length === this.published.length && runs.every((run, i) => run === this.published[i]);
    if (!isPublished) events.push({ type: 'runs', runs });
    this.published = runs;
    if (events.length > 0) this.onEvents(events);
  }

  private async searchFolders(): Promise<void> {
    const found = await findRuns(this.folders);
    const ids = new Set(found.map(({ id }) => id));
    for (const id of [...this.readers.keys()]) if (!ids.has(id)) this.drop(id);
    for (const run of found) {
      const reader = this.readers.get(run.id);
      if (reader === undefined) this.readers.set(run.id, new RunReader(run));
      else reader.name = run.name;
    }
  }

  private async hasNewState(reader: RunReader): Promise<boolean> {
    // If the state cannot be read, update() handles the error.
    return reader.hasNewState().catch(() => true);
  }

  private async update(reader: RunReader): Promise<readonly DashboardEvent[]> {
    const events = await reader.update().catch((error: NodeJS.ErrnoException) => {
      // The folder is being deleted or cannot be read.
      if (error.code !== undefined || error instanceof UnusableFileError) return undefined;
      throw error;
    });
    if (events === undefined) this.drop(reader.id);
    return events ?? [];
  }

  private drop(id: string): void {
    this.readers.delete(id);
    this.tables.delete(id);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

export interface RunWatchOptions {
  /** Milliseconds between two refreshes. */
  readonly interval: number;
  readonly onError: (error: unknown) => void;
}

/** Refreshes a library regularly while a page is open. It compares sizes and times of files, which is
 *  cheap and also works on network file systems, where change notifications do not. */
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

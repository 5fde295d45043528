import type { DashboardEvent, RunSummary } from '../../api.ts';
import { Refusal } from '../http/request-error.ts';
import { type FoundRun, findRuns } from './find-runs.ts';
import { RunReader } from './run-reader.ts';
import { RunTables } from './run-tables.ts';

/** Runs whose tables are held at a time; a run of 100 000 steps has about 35 MB of metrics. */
const MOST_TABLES = 8;
/** Of so many looks one is for new runs, and for new states of those that have ended. */
const SEARCH_EVERY = 2;
/** Of so many looks one is at the logs of runs that have ended. */
const LOOK_EVERY = 10;

/** The runs in some folders, as they come, grow and go. */
export class RunLibrary {
  readonly folders: readonly string[];
  private readonly readers = new Map<string, RunReader>();
  /** By id, the least lately used first. */
  private readonly tables = new Map<string, RunTables>();
  private readonly onEvents: (events: readonly DashboardEvent[]) => void;
  private told: readonly RunSummary[] = [];
  /** Since all was looked at. */
  private looks = 0;
  private refreshing: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  /** @param onEvents takes what a look has found, all of it at once */
  constructor(folders: readonly string[], onEvents: (events: readonly DashboardEvent[]) => void) {
    this.folders = folders;
    this.onEvents = onEvents;
  }

  /** Summaries as of the last refresh, the latest run first. */
  list(): RunSummary[] {
    const summaries = [...this.readers.values()].flatMap(({ summary }) => summary ?? []);
    return summaries.sort((a, b) => compare(b.startedAt, a.startedAt) || compare(a.name, b.name));
  }

  /** The runs that are there now. */
  async all(): Promise<readonly FoundRun[]> {
    await this.refresh({ all: true });
    return [...this.readers.values()];
  }

  /** Reads what is new. Runs that have ended are looked at less often than living ones, unless all
   *  are asked for. */
  refresh({ all = false }: { readonly all?: boolean } = {}): Promise<void> {
    if (this.refreshing !== undefined) return all ? this.refreshNext() : this.refreshing;
    if (all) this.looks = 0;
    this.refreshing = this.read().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** The reading that is under way may have passed by what is asked for now. */
  private refreshNext(): Promise<void> {
    const start = () => {
      this.next = undefined;
      return this.refresh({ all: true });
    };
    this.next ??= this.refreshing!.then(start, start);
    return this.next;
  }

  /** The run of an id. */
  async get(id: string): Promise<RunReader> {
    if (!this.readers.has(id)) await this.refresh({ all: true });
    const reader = this.readers.get(id);
    if (reader === undefined) throw new Refusal(404, 'There is no such run; it may be deleted');
    return reader;
  }

  /** What pages ask of a run's logs. */
  async open(id: string): Promise<RunTables> {
    const { folder } = await this.get(id);
    const tables = this.tables.get(id) ?? new RunTables(folder);
    this.tables.delete(id);
    this.tables.set(id, tables);
    const [oldest] = this.tables.keys();
    if (this.tables.size > MOST_TABLES) this.tables.delete(oldest!);
    return tables;
  }

  /** Reads the latest run, which is what people open first. */
  async readAhead(): Promise<void> {
    await this.refresh({ all: true });
    const [latest] = this.list();
    if (latest !== undefined) await (await this.open(latest.id)).readAhead();
  }

  private async read(): Promise<void> {
    const isSearch = this.looks % SEARCH_EVERY === 0;
    const isLook = this.looks % LOOK_EVERY === 0;
    this.looks++;
    if (isSearch) await this.search();
    const events: DashboardEvent[] = [];
    for (const reader of [...this.readers.values()]) {
      const isDue = reader.isLiving || isLook || (isSearch && (await this.hasNewState(reader)));
      if (isDue) events.push(...(await this.update(reader)));
    }
    const runs = this.list();
    const isTold = runs.length === this.told.length && runs.every((run, i) => run === this.told[i]);
    if (!isTold) events.push({ type: 'runs', runs });
    this.told = runs;
    if (events.length > 0) this.onEvents(events);
  }

  private async search(): Promise<void> {
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
    // Where it cannot be read, the update finds out what that means.
    return reader.hasNewState().catch(() => true);
  }

  private async update(reader: RunReader): Promise<readonly DashboardEvent[]> {
    const events = await reader.update().catch((error: NodeJS.ErrnoException) => {
      // A folder that is deleted goes file by file, and one that cannot be read shows nothing.
      if (error.code !== undefined) return undefined;
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

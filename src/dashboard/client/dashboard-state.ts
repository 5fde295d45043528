import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { DashboardEvent, DashboardSource, RunSummary } from '../api.ts';
import { assignColours, createChartView } from './charts/chart-view.ts';
import { isAlive } from './overview/describe-run.ts';
import { RunData } from './run-data.ts';
import { formatRoute, parseRoute } from './shell/route.ts';

export type Connection = 'connecting' | 'live' | 'lost' | 'report';

/** The state of the whole dashboard: the current page, the runs, and their data. Runs change every
 *  second; values derived from them, such as their names, change only if their own content does. */
export class DashboardState {
  readonly source: DashboardSource;
  readonly route = signal(parseRoute(location.hash));
  /** Undefined until loaded; unchanged runs keep their object identity. */
  readonly runs = signal<readonly RunSummary[] | undefined>(undefined);
  readonly connection = signal<Connection>('connecting');
  readonly error = signal<string | undefined>(undefined);
  /** Runs that are ticked, to be drawn with the selected one. */
  readonly ticked = signal<ReadonlySet<string>>(new Set());
  /** Settings of the charts. */
  readonly view = createChartView();
  /** Colour index of each drawn run. */
  readonly colours = signal<ReadonlyMap<string, number>>(new Map());
  /** The run that was shown last, for pages without one. */
  private readonly last = signal<string | undefined>(undefined);

  /** The run in the URL, else the last shown one, else an active one, else the first. */
  readonly run = computed(() => {
    const runs = this.runs.value ?? [];
    const route = this.route.value;
    const requested = 'run' in route ? route.run : undefined;
    if (requested !== undefined) return runs.find(({ id }) => id === requested);
    return runs.find(({ id }) => id === this.last.value) ?? runs.find(isAlive) ?? runs[0];
  });
  readonly runId = computed(() => this.run.value?.id);
  readonly runName = computed(() => this.run.value?.name);

  readonly hasActiveRun = computed(() => (this.runs.value ?? []).some(isAlive));
  readonly isLoading = computed(() => this.runs.value === undefined);
  readonly names = stableList(() => (this.runs.value ?? []).map(({ id, name }) => ({ id, name })));

  /** The selected run and the ticked ones, in the order of the list. */
  readonly drawn = stableList(() => {
    const selected = this.runId.value;
    return this.names.value.filter(({ id }) => id === selected || this.ticked.value.has(id));
  });

  private readonly data = new Map<string, RunData>();

  constructor(source: DashboardSource) {
    this.source = source;
    if (source.live === undefined) this.connection.value = 'report';
    else source.live.subscribe((event) => batch(() => this.handle(event)));
    void this.loadRuns();
    this.readRoute();
    addEventListener('hashchange', () => batch(() => this.readRoute()));
    effect(() => {
      const ids = this.drawn.value.map(({ id }) => id);
      this.colours.value = assignColours(this.colours.peek(), ids);
    });
    effect(() => this.writeView());
  }

  /** The data of a run; the first call starts loading it. */
  dataOf(run: string): RunData {
    const known = this.data.get(run);
    if (known !== undefined) return known;
    const data = new RunData(this.source, run);
    this.data.set(run, data);
    return data;
  }

  /** Adds a run to the charts or removes it. */
  tick(run: string, isTicked: boolean): void {
    const ticked = new Set(this.ticked.value);
    if (isTicked) ticked.add(run);
    else ticked.delete(run);
    this.ticked.value = ticked;
  }

  /** URL of a run's overview with the current ticks and zoom. */
  overviewOf(run: string | undefined): string {
    const [ticked, zoom] = [[...this.ticked.value], this.view.range.value];
    return formatRoute({ page: 'overview', run, ticked, zoom });
  }

  private readRoute(): void {
    const route = parseRoute(location.hash);
    this.route.value = route;
    if ('run' in route && route.run !== undefined) this.last.value = route.run;
    if (route.page !== 'overview') return;
    this.ticked.value = new Set(route.ticked);
    this.view.range.value = route.zoom;
  }

  /** Writes ticks and zoom into the URL without adding to the browser's history. */
  private writeView(): void {
    const [ticked, zoom] = [[...this.ticked.value], this.view.range.value];
    const route = this.route.peek();
    if (route.page !== 'overview') return;
    const isDefault = ticked.length === 0 && zoom === undefined;
    // The URL must also name the run that the others are drawn with.
    const run = route.run ?? (isDefault ? undefined : this.runId.peek());
    const hash = formatRoute({ page: 'overview', run, ticked, zoom });
    if (hash === formatRoute(route)) return;
    history.replaceState(null, '', hash);
    this.route.value = { page: 'overview', run, ticked, zoom };
  }

  private handle(event: DashboardEvent | { readonly type: 'connected' | 'lost' }): void {
    if (event.type === 'connected') {
      const wasLost = this.connection.value === 'lost';
      this.connection.value = 'live';
      if (wasLost) this.reload();
    } else if (event.type === 'lost') this.connection.value = 'lost';
    else if (event.type === 'runs') this.setRuns(event.runs);
    else if (event.type === 'metrics') this.data.get(event.run)?.append(event.data);
    else if (event.type === 'reset') this.data.get(event.run)?.load();
  }

  private setRuns(runs: readonly RunSummary[]): void {
    this.runs.value = reuseEntries(this.runs.value ?? [], runs);
    this.error.value = undefined;
    for (const run of runs) this.data.get(run.id)?.follow(run);
  }

  /** Reloads the drawn runs; others are reloaded when they are shown. */
  private reload(): void {
    const drawn = new Set(this.drawn.value.map(({ id }) => id));
    for (const [id, data] of this.data) {
      if (drawn.has(id)) data.load();
      else this.data.delete(id);
    }
  }

  /** Loads the first list. Later ones come as events, so a late answer is outdated. */
  private async loadRuns(): Promise<void> {
    try {
      const runs = await this.source.runs();
      if (this.runs.value === undefined) batch(() => this.setRuns(runs));
    } catch (error) {
      this.error.value = error instanceof Error ? error.message : String(error);
    }
  }
}

/** A computed list that keeps its identity while its entries are equal, so that components that show
 *  it are not redrawn. */
export function stableList<T extends object>(
  compute: () => readonly T[],
): ReadonlySignal<readonly T[]> {
  let previous: readonly T[] = [];
  return computed(() => {
    const list = reuseEntries(previous, compute());
    const isSame =
      list.length === previous.length && list.every((entry, i) => entry === previous[i]);
    if (!isSame) previous = list;
    return previous;
  });
}

/** Replaces entries by equal ones of an earlier list.
 *  @example previous [a], list [{ ...a }, b]  →  [a, b] */
export function reuseEntries<T extends object>(
  previous: readonly T[],
  list: readonly T[],
): readonly T[] {
  const known = new Map(previous.map((entry) => [JSON.stringify(entry), entry]));
  return list.map((entry) => known.get(JSON.stringify(entry)) ?? entry);
}

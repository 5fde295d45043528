import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { DashboardEvent, DashboardSource, RunSummary } from '../api.ts';
import { assignColours, createChartView } from './charts/chart-view.ts';
import { isAlive } from './overview/describe-run.ts';
import { RunData } from './run-data.ts';
import { formatRoute, parseRoute } from './shell/route.ts';

export type Connection = 'connecting' | 'live' | 'lost' | 'report';

/** What the whole page shows: which place, which runs, and what is known of them. Runs change every
 *  second; what follows from little of them, such as their names, changes only with that. */
export class DashboardState {
  readonly source: DashboardSource;
  readonly route = signal(parseRoute(location.hash));
  /** Undefined until the first answer; runs that have not changed are the same objects. */
  readonly runs = signal<readonly RunSummary[] | undefined>(undefined);
  readonly connection = signal<Connection>('connecting');
  readonly error = signal<string | undefined>(undefined);
  /** Runs that are ticked to be drawn beside the chosen one. */
  readonly ticked = signal<ReadonlySet<string>>(new Set());
  /** How the charts are looked at. */
  readonly view = createChartView();
  /** The place of each drawn run's colour. */
  readonly colours = signal<ReadonlyMap<string, number>>(new Map());
  /** The run that was looked at last, for pages that are of none. */
  private readonly last = signal<string | undefined>(undefined);

  /** The run of the address, else the last one, else one that is alive, else the first. */
  readonly run = computed(() => {
    const runs = this.runs.value ?? [];
    const route = this.route.value;
    const asked = 'run' in route ? route.run : undefined;
    if (asked !== undefined) return runs.find(({ id }) => id === asked);
    return runs.find(({ id }) => id === this.last.value) ?? runs.find(isAlive) ?? runs[0];
  });
  readonly runId = computed(() => this.run.value?.id);
  readonly runName = computed(() => this.run.value?.name);

  readonly isReading = computed(() => this.runs.value === undefined);
  readonly names = keptList(() => (this.runs.value ?? []).map(({ id, name }) => ({ id, name })));

  /** The chosen run and those that are ticked, in the list's order. */
  readonly drawn = keptList(() => {
    const chosen = this.runId.value;
    return this.names.value.filter(({ id }) => id === chosen || this.ticked.value.has(id));
  });

  private readonly data = new Map<string, RunData>();

  constructor(source: DashboardSource) {
    this.source = source;
    if (source.live === undefined) this.connection.value = 'report';
    else source.live.subscribe((event) => batch(() => this.handle(event)));
    void this.loadRuns();
    this.takeRoute();
    addEventListener('hashchange', () => batch(() => this.takeRoute()));
    effect(() => {
      const ids = this.drawn.value.map(({ id }) => id);
      this.colours.value = assignColours(this.colours.peek(), ids);
    });
    effect(() => this.keepView());
  }

  /** What is known of a run; the first call begins to read it. */
  dataOf(run: string): RunData {
    const known = this.data.get(run);
    if (known !== undefined) return known;
    const data = new RunData(this.source, run);
    this.data.set(run, data);
    return data;
  }

  /** Draws a run beside the chosen one, or no longer. */
  tick(run: string, isTicked: boolean): void {
    const ticked = new Set(this.ticked.value);
    if (isTicked) ticked.add(run);
    else ticked.delete(run);
    this.ticked.value = ticked;
  }

  /** Where the overview of a run is, looked at as now. */
  overviewOf(run: string | undefined): string {
    const [ticked, zoom] = [[...this.ticked.value], this.view.range.value];
    return formatRoute({ page: 'overview', run, ticked, zoom });
  }

  private takeRoute(): void {
    const route = parseRoute(location.hash);
    this.route.value = route;
    if ('run' in route && route.run !== undefined) this.last.value = route.run;
    if (route.page !== 'overview') return;
    this.ticked.value = new Set(route.ticked);
    this.view.range.value = route.zoom;
  }

  /** Puts ticks and zoom into the address, without a step in the browser's history. */
  private keepView(): void {
    const [ticked, zoom] = [[...this.ticked.value], this.view.range.value];
    const route = this.route.peek();
    if (route.page !== 'overview') return;
    const isBare = ticked.length === 0 && zoom === undefined;
    // What is drawn beside which run must stand there too.
    const run = route.run ?? (isBare ? undefined : this.runId.peek());
    const hash = formatRoute({ page: 'overview', run, ticked, zoom });
    if (hash === formatRoute(route)) return;
    history.replaceState(null, '', hash);
    this.route.value = { page: 'overview', run, ticked, zoom };
  }

  private handle(event: DashboardEvent | { readonly type: 'connected' | 'lost' }): void {
    if (event.type === 'connected') {
      const isBack = this.connection.value === 'lost';
      this.connection.value = 'live';
      if (isBack) this.reload();
    } else if (event.type === 'lost') this.connection.value = 'lost';
    else if (event.type === 'runs') this.takeRuns(event.runs);
    else if (event.type === 'metrics') this.data.get(event.run)?.append(event.data);
    else if (event.type === 'reset') this.data.get(event.run)?.load();
  }

  private takeRuns(runs: readonly RunSummary[]): void {
    this.runs.value = keepEntries(this.runs.value ?? [], runs);
    this.error.value = undefined;
    for (const run of runs) this.data.get(run.id)?.follow(run);
  }

  /** Reads what is shown again; the rest when it is shown. */
  private reload(): void {
    const drawn = new Set(this.drawn.value.map(({ id }) => id));
    for (const [id, data] of this.data) {
      if (drawn.has(id)) data.load();
      else this.data.delete(id);
    }
  }

  /** The first list. Events bring every later one: an answer that comes after them is older. */
  private async loadRuns(): Promise<void> {
    try {
      const runs = await this.source.runs();
      if (this.runs.value === undefined) batch(() => this.takeRuns(runs));
    } catch (error) {
      this.error.value = error instanceof Error ? error.message : String(error);
    }
  }
}

/** A list that is another one only where its entries say something else: who shows it need not be
 *  drawn again whenever something near it changes. */
export function keptList<T extends object>(
  compute: () => readonly T[],
): ReadonlySignal<readonly T[]> {
  let kept: readonly T[] = [];
  return computed(() => {
    const list = keepEntries(kept, compute());
    const isSame = list.length === kept.length && list.every((entry, i) => entry === kept[i]);
    if (!isSame) kept = list;
    return kept;
  });
}

/** The new entries, where equal ones of before stand for them.
 *  @example kept [a], list [{ ...a }, b]  →  [a, b] */
export function keepEntries<T extends object>(
  kept: readonly T[],
  list: readonly T[],
): readonly T[] {
  const before = new Map(kept.map((entry) => [JSON.stringify(entry), entry]));
  return list.map((entry) => before.get(JSON.stringify(entry)) ?? entry);
}

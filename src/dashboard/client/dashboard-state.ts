import { batch, computed, effect, signal } from '@preact/signals';
import type { DashboardEvent, DashboardSource, RunSummary } from '../api.ts';
import { assignColours } from './charts/assign-colours.ts';
import { isAlive } from './overview/describe-run.ts';
import { RunData } from './run-data.ts';
import { parseRoute } from './shell/route.ts';

export type Connection = 'connecting' | 'live' | 'lost' | 'report';

/** What the whole page shows: which place, which runs, and what is known of them. */
export class DashboardState {
  readonly source: DashboardSource;
  readonly route = signal(parseRoute(location.hash));
  /** Undefined until the first answer. */
  readonly runs = signal<readonly RunSummary[] | undefined>(undefined);
  readonly connection = signal<Connection>('connecting');
  readonly error = signal<string | undefined>(undefined);
  /** Runs that are ticked to be drawn beside the chosen one. */
  readonly ticked = signal<ReadonlySet<string>>(new Set());
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

  /** The chosen run and those that are ticked, in the list's order. */
  readonly drawn = computed(() => {
    const chosen = this.run.value?.id;
    return (this.runs.value ?? []).filter(({ id }) => id === chosen || this.ticked.value.has(id));
  });

  private readonly data = new Map<string, RunData>();

  constructor(source: DashboardSource) {
    this.source = source;
    if (source.live === undefined) this.connection.value = 'report';
    else source.live.subscribe((event) => batch(() => this.handle(event)));
    void this.loadRuns();
    addEventListener('hashchange', () => {
      this.route.value = parseRoute(location.hash);
    });
    effect(() => {
      const route = this.route.value;
      if ('run' in route && route.run !== undefined) this.last.value = route.run;
    });
    effect(() => {
      const ids = this.drawn.value.map(({ id }) => id);
      this.colours.value = assignColours(this.colours.peek(), ids);
    });
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

  /** Takes a newer state of one run. */
  replaceRun(run: RunSummary): void {
    this.takeRuns((this.runs.value ?? []).map((old) => (old.id === run.id ? run : old)));
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
    this.runs.value = runs;
    for (const run of runs) this.data.get(run.id)?.follow(run);
  }

  /** Reads what is shown again; the rest when it is shown. */
  private reload(): void {
    const drawn = new Set(this.drawn.value.map(({ id }) => id));
    for (const [id, data] of this.data) {
      if (drawn.has(id)) data.load();
      else this.data.delete(id);
    }
    void this.loadRuns();
  }

  private async loadRuns(): Promise<void> {
    try {
      const runs = await this.source.runs();
      batch(() => {
        this.takeRuns(runs);
        this.error.value = undefined;
      });
    } catch (error) {
      this.error.value = error instanceof Error ? error.message : String(error);
    }
  }
}

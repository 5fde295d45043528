import type {
  ApiError,
  DashboardEvent,
  DashboardSource,
  EvaluationRow,
  LabelQueue,
  LabelTask,
  LiveSource,
  LogRow,
  MetricColumns,
  ReportData,
  RunSummary,
  SamplePage,
  TokenColumns,
} from '../api.ts';
import { formatSampleQuery, querySamples } from '../sample-query.ts';

/** Rows of metrics to ask for: a chart is narrower in pixels. */
const points = 2000;

/** What the server of this page tells. Addresses are relative, so that it may stand under any path. */
export function httpSource(): DashboardSource {
  const of = (run: string) => `api/runs/${encodeURIComponent(run)}`;
  return {
    runs: () => get<RunSummary[]>('api/runs'),
    config: (run) => get<Record<string, unknown>>(`${of(run)}/config`),
    metrics: (run) => get<MetricColumns>(`${of(run)}/metrics?points=${points}`),
    evaluations: (run) => get<EvaluationRow[]>(`${of(run)}/evaluations`),
    log: (run) => get<LogRow[]>(`${of(run)}/log`),
    samples: (run, query) => get<SamplePage>(`${of(run)}/samples?${formatSampleQuery(query)}`),
    tokens: (run, index) => get<TokenColumns>(`${of(run)}/samples/${index}/tokens`),
    live: liveSource(),
  };
}

function liveSource(): LiveSource {
  const feed = new EventFeed('api/events');
  const of = (queue: string) => `api/labels/${encodeURIComponent(queue)}`;
  return {
    subscribe: (onEvent) => feed.subscribe(onEvent),
    control: async (run, command) => {
      await send(`api/runs/${encodeURIComponent(run)}/control`, { command });
    },
    queues: () => get<LabelQueue[]>('api/labels'),
    createQueue: (queue) => post<LabelQueue>('api/labels', queue),
    nextTask: async (queue, labeller) => {
      const answer = await ask(`${of(queue)}/next?labeller=${encodeURIComponent(labeller)}`);
      return answer.status === 204 ? undefined : ((await answer.json()) as LabelTask);
    },
    answer: (queue, answer) => post<LabelQueue>(`${of(queue)}/answers`, answer),
    undo: (queue, labeller) => post<LabelTask>(`${of(queue)}/undo`, { labeller }),
    exportUrl: (queue) => `${of(queue)}/export`,
  };
}

async function get<T>(path: string): Promise<T> {
  return (await (await ask(path)).json()) as T;
}

async function post<T>(path: string, body: unknown): Promise<T> {
  return (await (await send(path, body)).json()) as T;
}

function send(path: string, body: unknown): Promise<Response> {
  return ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Asks the server; a refusal becomes an error in the server's own words. */
async function ask(path: string, init?: RequestInit): Promise<Response> {
  const answer = await fetch(path, init).catch(() => {
    throw new Error(
      'Cannot reach the server: it must be running; start "proximal dashboard" again',
    );
  });
  if (answer.ok) return answer;
  const refusal = (await answer.json().catch(() => ({}))) as Partial<ApiError>;
  throw new Error(
    refusal.error ??
      `Cannot read ${path}: the server answers ${answer.status} ${answer.statusText}`,
  );
}

/** What a report carries in itself: nothing is asked for elsewhere, and nothing changes. */
export function embeddedSource(report: ReportData): DashboardSource {
  return {
    runs: async () => [report.run],
    config: async () => report.config,
    metrics: async () => report.metrics,
    evaluations: async () => report.evaluations,
    log: async () => report.log,
    samples: async (_run, query) => querySamples(report.samples, query),
    tokens: async (_run, index) => {
      const columns = report.tokens[index];
      if (columns !== undefined) return columns;
      throw new RangeError(
        `Cannot show the tokens of sample ${index}: the report has not got them`,
      );
    },
    live: undefined,
  };
}

type FeedEvent = DashboardEvent | { readonly type: 'connected' | 'lost' };
type Listener = (event: FeedEvent) => void;

/** How long to wait before asking again, in milliseconds: soon at first, then every five seconds. */
const delays = [500, 1000, 2000, 5000];

/** One stream of events for all who listen, open while somebody does. It comes back by itself, also
 *  where the browser's own way gives up: after an answer that is an error. */
export class EventFeed {
  private readonly url: string;
  private readonly listeners = new Set<Listener>();
  private stream: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private isOpen = false;

  constructor(url: string) {
    this.url = url;
  }

  /** Returns what ends the subscription. */
  subscribe(listener: Listener): () => void {
    // The same function may listen twice.
    const own: Listener = (event) => listener(event);
    this.listeners.add(own);
    if (this.listeners.size === 1) this.open();
    else if (this.isOpen) own({ type: 'connected' });
    return () => {
      if (this.listeners.delete(own) && this.listeners.size === 0) this.close();
    };
  }

  private open(): void {
    const stream = new EventSource(this.url);
    this.stream = stream;
    stream.onopen = () => {
      this.isOpen = true;
      this.failures = 0;
      this.tell({ type: 'connected' });
    };
    stream.onmessage = ({ data }) => this.tell(JSON.parse(data as string) as DashboardEvent);
    stream.onerror = () => {
      stream.close();
      this.isOpen = false;
      const delay = delays[Math.min(this.failures++, delays.length - 1)]!;
      this.tell({ type: 'lost' });
      this.timer = setTimeout(() => this.open(), delay);
    };
  }

  private close(): void {
    this.stream?.close();
    clearTimeout(this.timer);
    this.isOpen = false;
    this.failures = 0;
  }

  private tell(event: FeedEvent): void {
    for (const listener of [...this.listeners]) listener(event);
  }
}

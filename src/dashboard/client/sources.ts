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
  WorkersState,
} from '../api.ts';
import { formatSampleQuery, querySamples } from '../sample-query.ts';
import { commandLine } from './command-line.ts';

/** Number of metric rows to request; a chart has fewer pixels. */
const points = 2000;

/** Data from the server of this page. URLs are relative, so it may be served under any path. */
export function httpSource(): DashboardSource {
  const base = (run: string) => `api/runs/${encodeURIComponent(run)}`;
  return {
    runs: () => get<RunSummary[]>('api/runs'),
    config: (run) => get<Record<string, unknown>>(`${base(run)}/config`),
    metrics: (run) => get<MetricColumns>(`${base(run)}/metrics?points=${points}`),
    evaluations: (run) => get<EvaluationRow[]>(`${base(run)}/evaluations`),
    log: (run) => get<LogRow[]>(`${base(run)}/log`),
    workers: (run) => get<WorkersState | null>(`${base(run)}/workers`),
    samples: (run, query) => get<SamplePage>(`${base(run)}/samples?${formatSampleQuery(query)}`),
    tokens: (run, index) => get<TokenColumns>(`${base(run)}/samples/${index}/tokens`),
    live: liveSource(),
  };
}

function liveSource(): LiveSource {
  const feed = new EventFeed('api/events');
  const base = (queue: string) => `api/labels/${encodeURIComponent(queue)}`;
  return {
    subscribe: (onEvent) => feed.subscribe(onEvent),
    control: async (run, command) => {
      await send(`api/runs/${encodeURIComponent(run)}/control`, { command });
    },
    saveNote: async (run, note) => {
      await send(`api/runs/${encodeURIComponent(run)}/note`, { note });
    },
    queues: () => get<LabelQueue[]>('api/labels'),
    createQueue: (queue) => post<LabelQueue>('api/labels', queue),
    nextTask: async (queue, labeller) => {
      const response = await request(
        `${base(queue)}/next?labeller=${encodeURIComponent(labeller)}`,
      );
      return response.status === 204 ? undefined : ((await response.json()) as LabelTask);
    },
    answer: (queue, answer) => post<LabelQueue>(`${base(queue)}/answers`, answer),
    undo: (queue, labeller) => post<LabelTask>(`${base(queue)}/undo`, { labeller }),
    exportUrl: (queue) => `${base(queue)}/export`,
  };
}

async function get<T>(path: string): Promise<T> {
  return (await (await request(path)).json()) as T;
}

async function post<T>(path: string, body: unknown): Promise<T> {
  return (await (await send(path, body)).json()) as T;
}

function send(path: string, body: unknown): Promise<Response> {
  return request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Sends a request; an error response is thrown with the server's message. */
async function request(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch(() => {
    throw new Error(
      `Cannot reach the server: it must be running; start "${commandLine('dashboard')}" again`,
    );
  });
  if (response.ok) return response;
  const body = (await response.json().catch(() => ({}))) as Partial<ApiError>;
  throw new Error(
    body.error ??
      `Cannot read ${path}: the server responded with ${response.status} ${response.statusText}`,
  );
}

/** Data embedded in a report: there are no requests and no changes. */
export function embeddedSource(report: ReportData): DashboardSource {
  return {
    runs: async () => [report.run],
    config: async () => report.config,
    metrics: async () => report.metrics,
    evaluations: async () => report.evaluations,
    log: async () => report.log,
    workers: async () => null,
    samples: async (_run, query) => querySamples(report.samples, query),
    tokens: async (_run, index) => {
      const columns = report.tokens[index];
      if (columns !== undefined) return columns;
      throw new RangeError(
        `Cannot show the tokens of sample ${index}: the report does not contain them`,
      );
    },
    live: undefined,
  };
}

type FeedEvent = DashboardEvent | { readonly type: 'connected' | 'lost' };
type Listener = (event: FeedEvent) => void;

/** Delays before reconnecting, in milliseconds; the last one repeats. */
const delays = [500, 1000, 2000, 5000];

/** One event stream for all listeners, open while there are any. It reconnects by itself, even after an
 *  error response, where the browser would give up. */
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

  /** Returns a function that ends the subscription. */
  subscribe(listener: Listener): () => void {
    // The same function may subscribe twice.
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
      this.emit({ type: 'connected' });
    };
    stream.onmessage = ({ data }) => this.emit(JSON.parse(data as string) as DashboardEvent);
    stream.onerror = () => {
      stream.close();
      this.isOpen = false;
      const delay = delays[Math.min(this.failures++, delays.length - 1)]!;
      this.emit({ type: 'lost' });
      this.timer = setTimeout(() => this.open(), delay);
    };
  }

  private close(): void {
    this.stream?.close();
    clearTimeout(this.timer);
    this.isOpen = false;
    this.failures = 0;
  }

  private emit(event: FeedEvent): void {
    for (const listener of [...this.listeners]) listener(event);
  }
}

import type {
  ApiError,
  DashboardSource,
  EvaluationRow,
  LabelQueue,
  LabelTask,
  LiveSource,
  LogRow,
  MetricColumns,
  RunSummary,
  SamplePage,
  TokenColumns,
} from '../api.ts';
import { formatSampleQuery } from '../sample-query.ts';
import { EventFeed } from './event-feed.ts';

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

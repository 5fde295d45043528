import { once } from 'node:events';
import { appendFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startTestDashboard } from '../../../test/helpers/dashboard-server.ts';
import {
  appendFakeRows,
  fakeMetrics,
  fakeSample,
  writeFakeRun,
} from '../../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import type { DashboardEvent } from '../api.ts';
import { EventHub } from './http/event-hub.ts';

/** The events of a dashboard as they come. */
async function listen({ port }: { readonly port: number }): Promise<DashboardEvent[]> {
  const events: DashboardEvent[] = [];
  const request = get({ host: '127.0.0.1', port, path: '/api/events' }, (response) => {
    let rest = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n\n');
      rest = parts.pop()!;
      const data = parts.filter((part) => part.startsWith('data: '));
      events.push(...data.map((part) => JSON.parse(part.slice(6)) as DashboardEvent));
    });
  });
  request.on('error', () => {});
  onTestFinished(() => void request.destroy());
  await vi.waitFor(() => expect(events).toHaveLength(1));
  return events;
}

const ofType = <T extends DashboardEvent['type']>(events: readonly DashboardEvent[], type: T) =>
  events.filter((event): event is Extract<DashboardEvent, { type: T }> => event.type === type);

const patience = { timeout: 5000, interval: 20 };

/** A dashboard of one living run, somebody who listens, and the run's files. */
async function startLive() {
  const folder = makeTempFolder();
  const run = join(folder, 'a');
  writeFakeRun(run, { status: 'running', totalSteps: 20 });
  const dashboard = await startTestDashboard({ folders: [folder] });
  const events = await listen(dashboard);
  return { folder, run, metrics: join(run, 'metrics.jsonl'), dashboard, events };
}

describe('events', () => {
  test('contain the rows of a growing log, each once and only when complete', async () => {
    const { metrics, events } = await startLive();
    const [first] = ofType(events, 'runs');
    expect(first!.runs[0]).toMatchObject({ name: 'a', counts: { metrics: 10 } });
    const line = `${JSON.stringify(fakeMetrics(11))}\n`;
    appendFileSync(metrics, line.slice(0, 40));
    appendFakeRows(join(metrics, '../samples.jsonl'), [fakeSample(20)]);
    await vi.waitFor(
      () => expect(ofType(events, 'runs').at(-1)!.runs[0]!.counts.samples).toBe(21),
      patience,
    );
    expect(ofType(events, 'metrics')).toEqual([]);
    appendFileSync(metrics, line.slice(40));
    await vi.waitFor(() => expect(ofType(events, 'metrics')).toHaveLength(1), patience);
    appendFakeRows(metrics, [fakeMetrics(12), fakeMetrics(13)]);
    const rows = () => ofType(events, 'metrics').flatMap(({ data }) => data.steps);
    await vi.waitFor(() => expect(rows()).toEqual([11, 12, 13]), patience);
    const { data, run } = ofType(events, 'metrics')[0]!;
    expect(run).toBe(first!.runs[0]!.id);
    expect(data.rows).toBe(11);
    expect(data.columns['objective/kl']).toEqual([fakeMetrics(11)['objective/kl']]);
  });

  test('report truncated logs and more rows than an event may contain', async () => {
    const { metrics, events } = await startLive();
    truncateSync(metrics, 0);
    await vi.waitFor(() => expect(ofType(events, 'reset')).toHaveLength(1), patience);
    appendFakeRows(metrics, [fakeMetrics(1)]);
    await vi.waitFor(() => expect(ofType(events, 'metrics')).toHaveLength(1), patience);
    appendFakeRows(
      metrics,
      Array.from({ length: 600 }, (_, i) => fakeMetrics(i + 2)),
    );
    await vi.waitFor(() => expect(ofType(events, 'reset')).toHaveLength(2), patience);
  });

  test('report new, ended and deleted runs', async () => {
    const { folder, run, events, dashboard } = await startLive();
    const names = () =>
      ofType(events, 'runs')
        .at(-1)!
        .runs.map(({ name, status }) => name + status);
    writeFakeRun(join(folder, 'b'));
    await vi.waitFor(() => expect(names()).toEqual(['arunning', 'bcompleted']), patience);
    writeFileSync(join(run, 'run.json'), '{"status":"failed","message":"no memory"}');
    await vi.waitFor(() => expect(names()).toEqual(['bcompleted', 'afailed']), patience);
    rmSync(run, { recursive: true });
    await vi.waitFor(() => expect(names()).toEqual(['bcompleted']), patience);
    expect(dashboard.errors).toEqual([]);
  });

  test('report how a run ended before the dashboard closes with it', async () => {
    const { run, events, dashboard } = await startLive();
    writeFileSync(join(run, 'run.json'), '{"status":"completed"}');
    await dashboard.close();
    await vi.waitFor(
      () => expect(ofType(events, 'runs').at(-1)!.runs[0]!.status).toBe('completed'),
      patience,
    );
  });
});

describe('EventHub', () => {
  const event: DashboardEvent = { type: 'reset', run: 'x'.repeat(100_000) };

  test('disconnects a client with a megabyte of unread events', async () => {
    const watched: boolean[] = [];
    const hub = new EventHub({ onWatched: (isWatched) => watched.push(isWatched) });
    const reader = hub.open([]).getReader();
    for (let i = 0; i < 1000; i++) hub.publish(event);
    expect([hub.size, watched]).toEqual([0, [true, false]]);
    let bytes = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.length;
    }
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(bytes).toBeLessThan(1_200_000);
  });

  test('buffers little for an unread connection and closes it', async () => {
    const hub = new EventHub({ onWatched: () => {} });
    const server = createServer(
      getRequestListener(() => new Response(hub.open([])), { overrideGlobalObjects: false }),
    ).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await vi.waitFor(() => expect(hub.size).toBe(1));
    let sent = 0;
    while (hub.size > 0 && sent < 1000) {
      hub.publish(event);
      sent++;
      await setImmediate();
    }
    // Sockets hold some megabytes of their own.
    expect(sent).toBeLessThan(200);
    socket.resume();
    await once(socket, 'close');
  });

  test('sends nothing without clients and forgets disconnected ones', async () => {
    const watched: boolean[] = [];
    const hub = new EventHub({ onWatched: (isWatched) => watched.push(isWatched) });
    hub.publish(event);
    const [one, two] = [hub.open([]), hub.open([event])];
    await one.cancel();
    expect([hub.size, watched]).toEqual([1, [true]]);
    await two.cancel();
    hub.publish(event);
    hub.close();
    expect([hub.size, watched]).toEqual([0, [true, false]]);
  });

  test('sends heartbeats', async () => {
    const hub = new EventHub({ onWatched: () => {}, heartbeat: 5 });
    const reader = hub.open([]).getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toBe('retry: 1000\n\n');
    expect(await read()).toBe(': alive\n\n');
    hub.close();
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunSummary } from '../../src/dashboard/api.ts';
import {
  type Dashboard,
  type DashboardOptions,
  startDashboard,
} from '../../src/dashboard/server/start-dashboard.ts';
import { type FakeRunOptions, writeFakeRun } from './fake-run.ts';
import { makeTempFolder } from './runtime-temp-folder.ts';

/** A page of three files, next to a file that must never be served. */
function writePage(): string {
  const folder = makeTempFolder();
  const page = join(folder, 'page');
  mkdirSync(page);
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(page, 'index.html'), '<!doctype html><title>Proximal</title>');
  writeFileSync(join(page, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(page, 'page.js'), ';');
  return page;
}

export interface TestDashboard extends Dashboard {
  /** Internal errors of the server. */
  readonly errors: readonly unknown[];
}

/** A dashboard on a free port, which is closed after the test. */
export async function startTestDashboard(
  options: Partial<DashboardOptions> & Pick<DashboardOptions, 'folders'>,
): Promise<TestDashboard> {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const defaults = { port: 0, page: writePage(), interval: 50 };
  const dashboard = await startDashboard({ ...defaults, onError, ...options });
  onTestFinished(() => dashboard.close());
  return { ...dashboard, errors };
}

/** A dashboard of one run. */
export async function startWithRun(options: FakeRunOptions = {}) {
  const folder = makeTempFolder();
  const run = join(folder, 'a');
  writeFakeRun(run, options);
  const dashboard = await startTestDashboard({ folders: [folder] });
  const [summary] = await askJson<RunSummary[]>(dashboard, '/api/runs');
  return { ...dashboard, folder, run, summary: summary!, at: `/api/runs/${summary!.id}` };
}

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Sends exactly this path and these headers, which `fetch` would change or reject. */
export function ask(
  { port }: Pick<Dashboard, 'port'>,
  path: string,
  { method = 'GET', headers = {}, body }: RawRequest = {},
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The JSON at a path. */
export async function askJson<T>(dashboard: Pick<Dashboard, 'port'>, path: string): Promise<T> {
  const { status, body } = await ask(dashboard, path);
  if (status !== 200) throw new Error(`Cannot get ${path}: ${status} ${body}`);
  return JSON.parse(body) as T;
}

/** Sends JSON as the page does. */
export function post(
  dashboard: Pick<Dashboard, 'port'>,
  path: string,
  body: unknown,
): Promise<RawResponse> {
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  return ask(dashboard, path, { method: 'POST', headers, body: JSON.stringify(body) });
}

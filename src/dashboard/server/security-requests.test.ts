import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, askJson, startTestDashboard } from '../../../test/helpers/dashboard-server.ts';
import { writeFakeRun } from '../../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import type { RunSummary } from '../api.ts';

const json = { 'content-type': 'application/json' };

async function start() {
  const folder = makeTempFolder();
  writeFakeRun(join(folder, 'a'), { status: 'running' });
  const told: string[] = [];
  const control = async (_: string, command: string) => void told.push(command);
  const dashboard = await startTestDashboard({ folders: [folder], control });
  return { ...dashboard, folder, told };
}

describe('requests', () => {
  test('every response forbids foreign code', async () => {
    const dashboard = await start();
    for (const path of ['/', '/page.js', '/api/runs', '/nothing', '/api/runs/x/log']) {
      const { headers } = await ask(dashboard, path);
      expect(headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
    }
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    'a body of type %j is refused, as forms can send it',
    async (type) => {
      const dashboard = await start();
      const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
      const [run] = await askJson<RunSummary[]>(dashboard, '/api/runs');
      const path = `/api/runs/${run!.id}/control`;
      const answer = await ask(dashboard, path, {
        method: 'POST',
        headers,
        body: '{"command":"stop"}',
      });
      expect([answer.status, dashboard.told]).toEqual([415, []]);
    },
  );

  test('a body is rejected with more than 64 KB, or without its length', async () => {
    const dashboard = await start();
    const [run] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    const path = `/api/runs/${run!.id}/control`;
    const chunked = { ...json, 'transfer-encoding': 'chunked' };
    for (const [headers, size, status] of [
      [json, 70_000, 413],
      [chunked, 70_000, 411],
      [chunked, 0, 411],
    ] as const) {
      const body = Buffer.from(`{"command":"stop"${' '.repeat(size)}}`);
      const answer = await ask(dashboard, path, { method: 'POST', headers, body });
      expect([answer.status, dashboard.told]).toEqual([status, []]);
    }
  });

  test.each([
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/%2e%2e%2fsecret.txt',
    '/assets/../../secret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/..\\secret.txt',
    '/index.html%00.js',
    '//etc/passwd',
    '/%2fetc%2fpasswd',
    '/assets/%252e%252e/secret.txt',
    '/%',
    '/api/runs/..%2f..%2f/config',
    '/api/runs/%2e%2e%2fa/config',
    '/api/runs/__proto__/config',
    '/api/runs/a/config',
  ])('%s leads out of nothing', async (path) => {
    const dashboard = await start();
    const { status, body } = await ask(dashboard, path);
    expect([400, 404]).toContain(status);
    expect(Object.keys(JSON.parse(body))).toEqual(['error']);
    expect(body).not.toMatch(/secret|root:|klCoef/);
  });

  test.each([
    ['metrics?points=1e3', 'points'],
    ['metrics?points=-1', 'points'],
    ['metrics?points=99999999', 'points'],
    ['metrics?from=NaN', 'from'],
    ['samples?limit=501', 'limit'],
    ['samples?limit=0', 'limit'],
    ['samples?offset=1.5', 'offset'],
    ['samples?minScore=Infinity', 'minScore'],
    ['samples?minScore=1e999', 'minScore'],
    ['samples?sort=constructor', 'sort'],
    [`samples?search=${'x'.repeat(501)}`, 'search'],
    ['samples?toString=1', 'toString'],
    ['samples/1e1/tokens', 'index'],
    ['samples/-1/tokens', 'index'],
  ])('%s is refused with a sentence', async (path, name) => {
    const dashboard = await start();
    const [run] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    const { status, body } = await ask(dashboard, `/api/runs/${run!.id}/${path}`);
    expect(status).toBe(400);
    expect(JSON.parse(body).error).toContain(name);
  });

  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is refused', async (method) => {
    const { status, headers } = await ask(await start(), '/api/runs', { method });
    expect(status).toBe(405);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  test('internal errors go to the terminal, not to the client', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'a'), { status: 'running' });
    const control = () => Promise.reject(new Error('Cannot write /home/me/secret'));
    const dashboard = await startTestDashboard({ folders: [folder], control });
    const [run] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    const path = `/api/runs/${run!.id}/control`;
    const answer = await ask(dashboard, path, {
      method: 'POST',
      headers: json,
      body: '{"command":"stop"}',
    });
    expect(answer).toMatchObject({
      status: 500,
      body: '{"error":"Internal: the dashboard failed; see its terminal"}',
    });
    expect(dashboard.errors).toEqual([new Error('Cannot write /home/me/secret')]);
  });

  test('bytes that are not HTTP only close their own connection', async () => {
    const dashboard = await start();
    writeFileSync(join(dashboard.folder, 'a', 'samples.jsonl'), '\0\xff{"step":\n');
    await new Promise((done) => {
      connect(dashboard.port, '127.0.0.1')
        .on('close', done)
        .on('error', () => {})
        .resume()
        .end('GET / HTTP/1.1\r\nHost: a b\0c\r\n\r\nnonsense\r\n\r\n');
    });
    expect((await ask(dashboard, '/')).status).toBe(200);
  });
});

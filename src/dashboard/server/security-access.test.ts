import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ask,
  askJson,
  type RawRequest,
  startTestDashboard,
} from '../../../test/helpers/dashboard-server.ts';
import { writeFakeRun } from '../../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import type { RunSummary } from '../api.ts';
import { isOwnHost } from './http/guard.ts';

const json = { 'content-type': 'application/json' };

async function start(options: { host?: string; token?: string } = {}) {
  const folder = makeTempFolder();
  writeFakeRun(join(folder, 'a'), { status: 'running' });
  const told: string[] = [];
  const control = async (_: string, command: string) => void told.push(command);
  const dashboard = await startTestDashboard({ folders: [folder], control, ...options });
  return { ...dashboard, folder, told };
}

describe('access', () => {
  test('requests with foreign host names are rejected (DNS rebinding)', async () => {
    const dashboard = await start();
    const names = ['evil.example', `evil.example:${dashboard.port}`, '127.0.0.1.evil.example'];
    for (const host of [...names, '8.8.8.8', 'localhost.', 'a@localhost']) {
      const { status, body } = await ask(dashboard, '/api/runs', { headers: { host } });
      expect([host, status >= 400 && status < 500]).toEqual([host, true]);
      expect(Object.keys(JSON.parse(body))).toEqual(['error']);
    }
    for (const host of ['localhost', 'LOCALHOST:1', `127.0.0.1:${dashboard.port}`, '[::1]:6060']) {
      expect((await ask(dashboard, '/api/runs', { headers: { host } })).status, host).toBe(200);
    }
  });

  test('a server on all interfaces accepts addresses but no foreign names', () => {
    expect(isOwnHost('192.168.0.7:6060', '0.0.0.0')).toBe(true);
    expect(isOwnHost('[fe80::1]:6060', '::')).toBe(true);
    expect(isOwnHost('evil.example:6060', '0.0.0.0')).toBe(false);
    expect(isOwnHost('localhost@evil.example', '0.0.0.0')).toBe(false);
    expect(isOwnHost('box.local:6060', 'Box.local')).toBe(true);
    expect(isOwnHost(undefined, '127.0.0.1')).toBe(false);
  });

  test.each<[string, RawRequest['headers']]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['an address typed in', { 'sec-fetch-site': 'none' }],
    ['another origin', { origin: 'http://evil.example' }],
    ['another port as origin', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed page', { origin: 'null' }],
  ])('%s cannot change anything (CSRF)', async (_, headers) => {
    const dashboard = await start();
    const [run] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    const answer = await ask(dashboard, `/api/runs/${run!.id}/control`, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: '{"command":"stop"}',
    });
    expect(answer.status).toBe(403);
    expect(dashboard.told).toEqual([]);
  });

  test('other pages can neither read the API nor its events', async () => {
    const dashboard = await start();
    for (const path of ['/api/events', '/api/runs']) {
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { origin: 'http://evil.example' },
      ]) {
        expect((await ask(dashboard, path, { headers })).status).toBe(403);
      }
    }
  });

  test('the page itself has access, even through a forwarded port', async () => {
    const dashboard = await start();
    const [run] = await askJson<RunSummary[]>(dashboard, '/api/runs');
    const headers = { ...json, 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080' };
    const answer = await ask(dashboard, `/api/runs/${run!.id}/control`, {
      method: 'POST',
      headers: { ...headers, host: 'localhost:8080' },
      body: '{"command":"save"}',
    });
    expect([answer.status, dashboard.told]).toEqual([204, ['save']]);
  });
});

describe('the token', () => {
  test('is random and required if other machines can reach the server', async () => {
    const [one, two] = [await start({ host: '0.0.0.0' }), await start({ host: '0.0.0.0' })];
    const token = new URL(one.url).searchParams.get('token')!;
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(new URL(two.url).searchParams.get('token')).not.toBe(token);
    for (const path of ['/', '/api/runs', '/api/runs?token=', `/api/runs?token=${token}x`]) {
      const { status, body, headers } = await ask(one, path);
      expect([path, status, headers['set-cookie']]).toEqual([path, 401, undefined]);
      expect(body).toBe(
        '{"error":"A token is required: open the full address that the terminal shows, or add ?token= and your token"}',
      );
    }
    const cookie = `proximal-${one.port}=${token.slice(1)}`;
    expect((await ask(one, '/', { headers: { cookie } })).status).toBe(401);
  });

  test('moves from the URL into a cookie that scripts and other sites cannot use', async () => {
    const dashboard = await start({ token: 'a token of mine' });
    expect([dashboard.url, dashboard.needsToken]).toEqual([
      expect.not.stringMatching('token'),
      true,
    ]);
    const first = await ask(dashboard, '/?token=a%20token%20of%20mine');
    expect([first.status, first.headers.location]).toEqual([303, '/']);
    const [set] = first.headers['set-cookie']!;
    expect(set).toBe(
      `proximal-${dashboard.port}=a%20token%20of%20mine; Path=/; HttpOnly; SameSite=Strict`,
    );
    const cookie = set!.split(';')[0]!;
    expect((await ask(dashboard, '/', { headers: { cookie } })).status).toBe(200);
    expect((await ask(dashboard, '/api/runs', { headers: { cookie } })).status).toBe(200);
    expect((await ask(dashboard, '/api/runs?token=a%20token%20of%20mine')).status).toBe(200);
  });

  test('is not required on this machine', async () => {
    const dashboard = await start();
    expect(dashboard.url).toBe(`http://127.0.0.1:${dashboard.port}/`);
    expect((await ask(dashboard, '/')).status).toBe(200);
  });
});

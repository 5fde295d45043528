import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask, askJson, startTestDashboard } from '../../../test/helpers/dashboard-server.ts';
import { writeFakeRun } from '../../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import type { RunSummary } from '../api.ts';
import { listen } from './start-dashboard.ts';

describe('startDashboard()', () => {
  test('a second dashboard on the same port fails with a remedy', async () => {
    const { port } = await startTestDashboard({ folders: [] });
    await expect(startTestDashboard({ folders: [], port })).rejects.toThrow(
      `Cannot serve the dashboard on port ${port} of 127.0.0.1: it must be free, but it is in use; choose another with --port, or stop the program that uses it`,
    );
  });

  test('listen() takes the next free port if allowed', async () => {
    const { port } = await startTestDashboard({ folders: [] });
    const server = createServer();
    onTestFinished(() => void server.close());
    const next = await listen(server, { host: '127.0.0.1', port, more: 19 });
    expect(next).toBeGreaterThan(port);
    expect(next).toBeLessThanOrEqual(port + 19);
  });

  test('a host that is not this machine fails with a remedy', async () => {
    await expect(startTestDashboard({ folders: [], host: '192.0.2.1' })).rejects.toThrow(
      'of 192.0.2.1: the host must be an address of this machine; choose another with --host',
    );
  });

  test('a short token is rejected', async () => {
    await expect(startTestDashboard({ folders: [], token: '' })).rejects.toThrow(
      'Cannot use the token: it must have at least 8 characters, got 0; leave it out to generate one',
    );
  });

  test('a missing page is reported with its folder', async () => {
    const page = makeTempFolder();
    await expect(startTestDashboard({ folders: [], page })).rejects.toThrow(
      `Cannot serve the dashboard's page from ${page}: it must contain index.html`,
    );
  });

  test('the page says how to call the program, as text', async () => {
    const page = makeTempFolder();
    const meta = (content: string) => `<meta name="proximal-program" content="${content}" />`;
    writeFileSync(join(page, 'index.html'), meta('proximal'));
    const read = async (program?: string) =>
      (await ask(await startTestDashboard({ folders: [], page, program }), '/')).body;
    expect(await read()).toBe(meta('proximal'));
    expect(await read('npx proximal')).toBe(meta('npx proximal'));
    expect(await read('node "$&<a>/x.mjs"')).toBe(meta('node &#34;$&#38;&#60;a&#62;/x.mjs&#34;'));
  });

  test('ids of runs survive restarts, and a closed server does not respond', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'a'));
    const first = await startTestDashboard({ folders: [folder] });
    const [before] = await askJson<RunSummary[]>(first, '/api/runs');
    await first.close();
    await expect(ask(first, '/')).rejects.toThrow('ECONNREFUSED');
    const second = await startTestDashboard({ folders: [folder], port: first.port });
    expect(await askJson(second, '/api/runs')).toEqual([before]);
  });
});

import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ask,
  askJson,
  post,
  startTestDashboard,
  startWithRun,
} from '../../../test/helpers/dashboard-server.ts';
import { writeFakeRun } from '../../../test/helpers/fake-run.ts';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { maxNoteLength, type RunSummary } from '../api.ts';

const noteOf = async (dashboard: { readonly port: number }) =>
  (await askJson<RunSummary[]>(dashboard, '/api/runs'))[0]!.note;

describe("a run's note", () => {
  test('is saved in its folder, replaced, and removed by an empty text', async () => {
    const { run, at, ...dashboard } = await startWithRun();
    expect((await post(dashboard, `${at}/note`, { note: ' β was too low\n' })).status).toBe(204);
    expect(await noteOf(dashboard)).toBe('β was too low');
    expect(readFileSync(join(run, 'note.json'), 'utf8')).toBe('{"note":"β was too low"}\n');
    await post(dashboard, `${at}/note`, { note: '<b>second</b>' });
    expect(await noteOf(dashboard)).toBe('<b>second</b>');
    expect(readdirSync(run).filter((name) => name.includes('note'))).toEqual(['note.json']);
    await post(dashboard, `${at}/note`, { note: '  ' });
    expect([await noteOf(dashboard), existsSync(join(run, 'note.json'))]).toEqual(['', false]);
  });

  test('must be a text of limited length for a run that exists', async () => {
    const { run, at, ...dashboard } = await startWithRun();
    const long = 'x'.repeat(maxNoteLength + 1);
    for (const body of [{}, { note: 3 }, { note: 'a', more: 1 }, { note: long }]) {
      const { status, body: text } = await post(dashboard, `${at}/note`, body);
      expect([status, JSON.parse(text).error]).toEqual([
        400,
        'The body must be {"note": …} with a text of at most 5000 characters',
      ]);
    }
    expect((await post(dashboard, '/api/runs/none/note', { note: 'a' })).status).toBe(404);
    expect(existsSync(join(run, 'note.json'))).toBe(false);
  });

  test('is not accepted from other pages, as a form, or without the token', async () => {
    const folder = makeTempFolder();
    writeFakeRun(join(folder, 'a'));
    const dashboard = await startTestDashboard({ folders: [folder], token: 'long enough' });
    const token = 'token=long%20enough';
    const { body } = await ask(dashboard, `/api/runs?${token}`);
    const path = `/api/runs/${(JSON.parse(body) as RunSummary[])[0]!.id}/note`;
    const json = { 'content-type': 'application/json' };
    const statusOf = async (query: string, headers: Record<string, string>) =>
      (await ask(dashboard, path + query, { method: 'POST', headers, body: '{"note":"a"}' }))
        .status;
    expect(await statusOf('', json)).toBe(401);
    expect(await statusOf(`?${token}`, { ...json, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await statusOf(`?${token}`, { ...json, origin: 'http://evil.example' })).toBe(403);
    expect(await statusOf(`?${token}`, { 'content-type': 'text/plain' })).toBe(415);
    expect(existsSync(join(folder, 'a', 'note.json'))).toBe(false);
    expect(await statusOf(`?${token}`, json)).toBe(204);
    expect(existsSync(join(folder, 'a', 'note.json'))).toBe(true);
  });

  test.skipIf(process.getuid?.() === 0)('of a read-only folder is a clear error', async () => {
    const { run, at, ...dashboard } = await startWithRun();
    chmodSync(run, 0o555);
    const { status, body } = await post(dashboard, `${at}/note`, { note: 'a' });
    chmodSync(run, 0o755);
    expect([status, JSON.parse(body).error]).toEqual([
      409,
      "Cannot save the note: the run's folder must be writable",
    ]);
  });
});

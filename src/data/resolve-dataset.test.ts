import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DownloadProgress } from '../base-setup/hub/index.ts';
import { type ReadRowsOptions, readRows } from './read-rows.ts';

const commit = 'c0ffee'.padEnd(40, '0');
const parquet = Buffer.from(
  parquetWriteBuffer({ columnData: [{ name: 'prompt', data: ['one', 'two'], type: 'STRING' }] }),
);
const allFiles: Readonly<Record<string, Buffer>> = {
  'README.md': Buffer.from('# tiny'),
  'data/train-00000-of-00001.parquet': parquet,
  'data/test-00000-of-00001.parquet': Buffer.from('not for training'),
  'extra/test.jsonl': Buffer.from('"three"\n'),
};

const hub = {
  files: allFiles,
  token: '',
  requests: [] as string[],
  folder: '',
  server: undefined as unknown as Server,
};

beforeEach(async () => {
  Object.assign(hub, { files: allFiles, token: '', requests: [], server: createServer() });
  hub.folder = mkdtempSync(join(tmpdir(), 'proximal-data-'));
  hub.server.on('request', (request, response) => {
    const { pathname } = new URL(request.url!, 'http://hub');
    hub.requests.push(pathname);
    if (hub.token !== '' && request.headers.authorization !== `Bearer ${hub.token}`) {
      return void response.writeHead(401).end();
    }
    const body = answer(pathname);
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  hub.server.listen(0, '127.0.0.1');
  await once(hub.server, 'listening');
  const unset = ['HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'HF_TOKEN', 'HF_TOKEN_PATH'];
  for (const name of [...unset, 'HF_HUB_OFFLINE']) vi.stubEnv(name, '');
  vi.stubEnv('HF_HOME', hub.folder);
  vi.stubEnv('HF_ENDPOINT', `http://127.0.0.1:${(hub.server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await stop();
  rmSync(hub.folder, { recursive: true });
});

async function stop(): Promise<void> {
  if (!hub.server.listening) return;
  hub.server.closeAllConnections();
  hub.server.close();
  await once(hub.server, 'close');
}

/** What huggingface.co answers about the dataset owner/tiny. */
function answer(pathname: string): string | Buffer | undefined {
  const { files } = hub;
  if (pathname === '/api/datasets/owner/tiny/revision/main') {
    return JSON.stringify({ _id: '1', id: 'owner/tiny', sha: commit });
  }
  if (pathname === `/api/datasets/owner/tiny/tree/${commit}`) {
    const folders = [...new Set(Object.keys(files).map((name) => name.split('/')[0]))];
    const entries = Object.entries(files).map(([path, bytes]) => ({
      ...{ type: 'file', path, size: bytes.length, oid: gitHash(bytes) },
      ...(path.endsWith('.parquet') && { lfs: { oid: sha256(bytes), size: bytes.length } }),
    }));
    return JSON.stringify([...folders.map((path) => ({ type: 'directory', path })), ...entries]);
  }
  return files[pathname.replace(`/datasets/owner/tiny/resolve/${commit}/`, '')];
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const gitHash = (bytes: Buffer) =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

async function collect(source: string, options: ReadRowsOptions = {}) {
  const rows: unknown[] = [];
  for await (const { columns, origin } of readRows(source, options)) rows.push({ columns, origin });
  return rows;
}

const trainName = 'data/train-00000-of-00001.parquet';
const trainRows = ['one', 'two'].map((prompt, i) => ({
  columns: { prompt },
  origin: `owner/tiny/${trainName} row ${i + 1}`,
}));

describe('a hub dataset', () => {
  test('is read from the cache, which is filled like by Python', async () => {
    expect(await collect('owner/tiny')).toEqual(trainRows);
    const root = join(hub.folder, 'hub', 'datasets--owner--tiny');
    expect(readFileSync(join(root, 'refs/main'), 'utf8')).toBe(commit);
    const snapshot = join(root, 'snapshots', commit);
    expect(readlinkSync(join(snapshot, trainName))).toBe(`../../../blobs/${sha256(parquet)}`);
    expect(existsSync(join(snapshot, 'data/test-00000-of-00001.parquet'))).toBe(false);
  });

  test('is downloaded once', async () => {
    await collect('owner/tiny');
    hub.requests.length = 0;
    expect(await collect('owner/tiny')).toEqual(trainRows);
    expect(hub.requests).toEqual([
      '/api/datasets/owner/tiny/revision/main',
      `/api/datasets/owner/tiny/tree/${commit}`,
    ]);
  });

  test('can return another split or a single folder', async () => {
    const rows = await collect('owner/tiny@main/extra', { split: 'test' });
    expect(rows).toEqual([
      { columns: { text: 'three' }, origin: 'owner/tiny/extra/test.jsonl line 1' },
    ]);
  });

  test('reports its progress', async () => {
    const seen: DownloadProgress[] = [];
    await collect('owner/tiny', { onProgress: (progress) => seen.push(progress) });
    const bytes = parquet.length;
    expect(seen.at(-1)).toEqual({
      file: trainName,
      receivedBytes: bytes,
      totalBytes: bytes,
      receivedBytesOfAll: bytes,
      totalBytesOfAll: bytes,
    });
  });

  test('accepts a token of any format', async () => {
    hub.token = 'secret';
    await expect(collect('owner/tiny')).rejects.toThrow(
      'Cannot download datasets/owner/tiny at revision "main": access is denied (401) and HF_TOKEN is not set',
    );
    expect(await collect('owner/tiny', { token: 'secret' })).toEqual(trainRows);
  });

  test('is found offline and without a connection once downloaded', async () => {
    await expect(collect('owner/tiny', { offline: true })).rejects.toThrow(
      `Cannot find owner/tiny at revision "main" offline: it must be in the cache ${join(hub.folder, 'hub')}, got nothing; download it once`,
    );
    await collect('owner/tiny');
    await stop();
    expect(await collect('owner/tiny', { offline: true })).toEqual(trainRows);
    expect(await collect('owner/tiny')).toEqual(trainRows);
  });

  test('is not read from an incomplete set of files', async () => {
    const [first, second] = ['train-00000-of-00002.parquet', 'train-00001-of-00002.parquet'];
    hub.files = { [first]: parquet, [second]: Buffer.from(parquet) };
    expect(await collect('owner/tiny')).toHaveLength(4);
    rmSync(join(hub.folder, 'hub/datasets--owner--tiny/snapshots', commit, second));
    await expect(collect('owner/tiny', { offline: true })).rejects.toThrow(
      'got a copy without 1 of 2 parts of train; download it once',
    );
  });

  test('that does not exist is rejected', async () => {
    await expect(collect('owner/huge')).rejects.toThrow(
      `Cannot find owner/huge: it must be a file, or a dataset on ${process.env.HF_ENDPOINT} with a revision "main", got neither`,
    );
  });

  test.each(['../../x.jsonl', 'a\\b.jsonl'])('cannot write to %s', async (name) => {
    hub.files = { [name]: Buffer.from('"x"') };
    await expect(collect('owner/tiny')).rejects.toThrow(
      `must return names and hashes of files, got "${name}"`,
    );
  });
});

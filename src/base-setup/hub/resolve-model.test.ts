import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { writePythonCache } from '../../../test/helpers/hub-cache.ts';
import { hashOf, modelId } from '../../../test/helpers/hub-server.ts';
import {
  files,
  messageOf,
  readWeights,
  useHub,
  wantedNames,
  weights,
} from '../../../test/helpers/hub-setup.ts';
import type { DownloadProgress } from './download-files.ts';
import { resolveModel } from './resolve-model.ts';

const setup = useHub();

describe('a folder', () => {
  test('is returned unchanged', async () => {
    await writeFile(join(setup.home, 'config.json'), '{}');
    expect(await resolveModel(setup.home)).toBe(setup.home);
    expect(setup.hub.requests).toEqual([]);
  });

  test('without config.json is rejected', async () => {
    expect(await messageOf(resolveModel(setup.home))).toBe(
      `Cannot load a model from ${setup.home}: it must be a folder with config.json, got a folder without it`,
    );
  });

  test('cannot be a file', async () => {
    const file = join(setup.home, 'config.json');
    await writeFile(file, '{}');
    expect(await messageOf(resolveModel(file))).toBe(
      `Cannot load a model from ${file}: it must be a folder with config.json, got a file`,
    );
  });
});

describe('the cache', () => {
  test('filled by Python is found offline', async () => {
    const folder = writePythonCache(setup.cacheDir, files);
    vi.stubEnv('HF_HUB_OFFLINE', '1');
    expect(await resolveModel(modelId)).toBe(folder);
    expect(await resolveModel(modelId, { revision: folder.slice(-40) })).toBe(folder);
    expect(setup.hub.requests).toEqual([]);
  });

  test('filled by Python with only a tokenizer is completed', async () => {
    const folder = writePythonCache(setup.cacheDir, { 'tokenizer.json': '{}' }, setup.hub.commit);
    expect(await messageOf(resolveModel(modelId, { offline: true }))).toBe(
      `Cannot find owner/tiny at revision "main" offline: it must be in the cache ${setup.cacheDir}, got a copy without config.json, model.safetensors; download it once without HF_HUB_OFFLINE and offline: true`,
    );
    expect(await resolveModel(modelId)).toBe(folder);
    expect(readdirSync(folder).sort()).toEqual(wantedNames);
    expect(setup.hub.requests.some((line) => line.includes('tokenizer.json'))).toBe(false);
  });

  test('is used if the hub is unreachable or denies access', async () => {
    const folder = writePythonCache(setup.cacheDir, files);
    expect(await resolveModel(modelId, { endpoint: 'http://127.0.0.1:1' })).toBe(folder);
    setup.hub.faults.apiStatus = 401;
    expect(await resolveModel(modelId)).toBe(folder);
    setup.hub.faults.apiStatus = 404;
    expect(await messageOf(resolveModel(modelId))).toContain('(404)');
  });

  test('is HF_HUB_CACHE, else in HF_HOME, unless an option sets it', async () => {
    vi.stubEnv('HF_HUB_CACHE', join(setup.home, 'elsewhere'));
    writePythonCache(join(setup.home, 'elsewhere'), files);
    await resolveModel(modelId, { offline: true });
    expect(
      await messageOf(resolveModel(modelId, { offline: true, cacheDir: setup.cacheDir })),
    ).toContain(`in the cache ${setup.cacheDir}, got nothing`);
  });

  test('without the model, offline, is an error', async () => {
    expect(await messageOf(resolveModel(modelId, { offline: true }))).toBe(
      `Cannot find owner/tiny at revision "main" offline: it must be in the cache ${setup.cacheDir}, got nothing; download it once without HF_HUB_OFFLINE and offline: true`,
    );
    expect(setup.hub.requests).toEqual([]);
  });
});

describe('a name', () => {
  test.each([
    'a/b/c',
    './missing',
    '/no/such/folder',
    'a--b',
    '../up',
    '.hidden',
    '',
    'a b',
    'x.git',
  ])('%o is not a hub id', async (id) => {
    expect(await messageOf(resolveModel(id))).toBe(
      `Cannot find model "${id}": it must be an existing folder or a hub id such as "Qwen/Qwen3-0.6B"`,
    );
  });

  test('of a revision must not escape the cache', async () => {
    expect(await messageOf(resolveModel(modelId, { revision: '../../x' }))).toBe(
      'Cannot find revision "../../x": it must be a branch, a tag or a commit, such as "main"',
    );
  });

  test('of an endpoint must be a URL', async () => {
    expect(await messageOf(resolveModel(modelId, { endpoint: 'huggingface.co' }))).toBe(
      'Cannot reach the hub: the endpoint must be an http or https URL, got "huggingface.co"; correct HF_ENDPOINT',
    );
  });
});

const blobs = () => readdirSync(join(setup.root, 'blobs'));

describe('a download', () => {
  test('fills the cache like the Python client', async () => {
    const folder = await resolveModel(modelId);
    expect(folder).toBe(join(setup.root, 'snapshots', setup.hub.commit));
    expect(readdirSync(folder).sort()).toEqual(wantedNames);
    for (const name of wantedNames) {
      const text = files[name as keyof typeof files];
      expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
      expect(readlinkSync(join(folder, name))).toBe(`../../blobs/${hashOf(name, text)}`);
    }
    expect(blobs()).toHaveLength(3);
    expect(readFileSync(join(setup.root, 'refs/main'), 'utf8')).toBe(setup.hub.commit);
  });

  test('happens once: the second call only asks for the current commit', async () => {
    await resolveModel(modelId);
    setup.hub.requests.length = 0;
    await resolveModel(modelId);
    expect(setup.hub.requests).toEqual(['GET /api/models/owner/tiny/revision/main']);
  });

  test('of a new commit fetches only what changed', async () => {
    await resolveModel(modelId);
    setup.hub.requests.length = 0;
    setup.hub.commit = 'd00d'.padEnd(40, '0');
    setup.hub.files = { ...files, 'config.json': '{"changed":true}' };
    const folder = await resolveModel(modelId);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe('{"changed":true}');
    expect(await readWeights(folder)).toBe(weights);
    expect(setup.hub.requests).toEqual([
      'GET /api/models/owner/tiny/revision/main',
      `GET /api/models/owner/tiny/tree/${setup.hub.commit}`,
      `GET /owner/tiny/resolve/${setup.hub.commit}/config.json`,
    ]);
  });

  test('fetches shards with their index and no other copies of the weights', async () => {
    const map = { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' };
    const index = JSON.stringify({ weight_map: map });
    const shards = { [map.a]: 'one', [map.b]: 'two', 'model.safetensors.index.json': index };
    setup.hub.files = { 'config.json': '{}', 'consolidated.safetensors': 'both', ...shards };
    const folder = await resolveModel(modelId);
    expect(readdirSync(folder).sort()).toEqual(['config.json', ...Object.keys(shards).sort()]);
    await rm(join(folder, map.b));
    expect(await messageOf(resolveModel(modelId, { offline: true }))).toContain(
      `got a copy without ${map.b};`,
    );
  });

  test('accepts a revision with slashes, or a commit', async () => {
    const folder = await resolveModel(modelId, { revision: 'refs/pr/1' });
    const ref = join(setup.root, 'refs/refs/pr/1');
    expect(readFileSync(ref, 'utf8')).toBe(setup.hub.commit);
    expect(setup.hub.requests[0]).toBe('GET /api/models/owner/tiny/revision/refs%2Fpr%2F1');
    expect(await resolveModel(modelId, { revision: setup.hub.commit })).toBe(folder);
    expect(readdirSync(join(setup.root, 'refs'))).toEqual(['refs']);
  });

  test('reports its progress', async () => {
    const seen: DownloadProgress[] = [];
    await resolveModel(modelId, { onProgress: (progress) => seen.push(progress) });
    const totalBytesOfAll = 22 + 2 + 100_000;
    expect(seen[0]).toEqual({
      file: 'config.json',
      receivedBytes: 22,
      totalBytes: 22,
      receivedBytesOfAll: 22,
      totalBytesOfAll,
    });
    expect(seen.at(-1)).toEqual({
      file: 'model.safetensors',
      receivedBytes: 100_000,
      totalBytes: 100_000,
      receivedBytesOfAll: totalBytesOfAll,
      totalBytesOfAll,
    });
  });

  test('can run twice at the same time', async () => {
    const folders = await Promise.all([resolveModel(modelId), resolveModel(modelId)]);
    expect(folders[0]).toBe(folders[1]);
    expect(await readWeights(folders[0])).toBe(weights);
    expect(blobs()).toHaveLength(3);
  });

  test('replaces a blob of the wrong size', async () => {
    mkdirSync(join(setup.root, 'blobs'), { recursive: true });
    await writeFile(setup.weightsBlob, 'abc');
    const folder = await resolveModel(modelId);
    expect(await readWeights(folder)).toBe(weights);
  });
});

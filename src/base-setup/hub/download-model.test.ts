import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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
const blobs = () => readdirSync(join(setup.root, 'blobs'));

describe('a download', () => {
  test('fills the cache as Python does', async () => {
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

  test('is made once: the second call asks only what the revision means', async () => {
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

  test('takes shards with their index, not other copies of the weights', async () => {
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

  test('reads a revision with slashes, or a commit', async () => {
    const folder = await resolveModel(modelId, { revision: 'refs/pr/1' });
    const ref = join(setup.root, 'refs/refs/pr/1');
    expect(readFileSync(ref, 'utf8')).toBe(setup.hub.commit);
    expect(setup.hub.requests[0]).toBe('GET /api/models/owner/tiny/revision/refs%2Fpr%2F1');
    expect(await resolveModel(modelId, { revision: setup.hub.commit })).toBe(folder);
    expect(readdirSync(join(setup.root, 'refs'))).toEqual(['refs']);
  });

  test('shows how far it has come', async () => {
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

  test('can be made by two at once', async () => {
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

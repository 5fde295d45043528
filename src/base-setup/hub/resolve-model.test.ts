import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { writePythonCache } from '../../../test/helpers/hub-cache.ts';
import { modelId } from '../../../test/helpers/hub-server.ts';
import { files, messageOf, useHub, wantedNames } from '../../../test/helpers/hub-setup.ts';
import { resolveModel } from './resolve-model.ts';

const setup = useHub();

describe('a folder', () => {
  test('is returned as it is', async () => {
    await writeFile(join(setup.home, 'config.json'), '{}');
    expect(await resolveModel(setup.home)).toBe(setup.home);
    expect(setup.hub.requests).toEqual([]);
  });

  test('without config.json is refused', async () => {
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
  test('that Python filled is found offline', async () => {
    const folder = writePythonCache(setup.cacheDir, files);
    vi.stubEnv('HF_HUB_OFFLINE', '1');
    expect(await resolveModel(modelId)).toBe(folder);
    expect(await resolveModel(modelId, { revision: folder.slice(-40) })).toBe(folder);
    expect(setup.hub.requests).toEqual([]);
  });

  test('that Python filled with a tokenizer only is completed', async () => {
    const folder = writePythonCache(setup.cacheDir, { 'tokenizer.json': '{}' }, setup.hub.commit);
    expect(await messageOf(resolveModel(modelId, { offline: true }))).toBe(
      `Cannot find owner/tiny at revision "main" offline: it must be in the cache ${setup.cacheDir}, got a copy without config.json, model.safetensors; download it once without HF_HUB_OFFLINE and offline: true`,
    );
    expect(await resolveModel(modelId)).toBe(folder);
    expect(readdirSync(folder).sort()).toEqual(wantedNames);
    expect(setup.hub.requests.some((line) => line.includes('tokenizer.json'))).toBe(false);
  });

  test('stands in for a hub that is out of reach or wants permission', async () => {
    const folder = writePythonCache(setup.cacheDir, files);
    expect(await resolveModel(modelId, { endpoint: 'http://127.0.0.1:1' })).toBe(folder);
    setup.hub.faults.apiStatus = 401;
    expect(await resolveModel(modelId)).toBe(folder);
    setup.hub.faults.apiStatus = 404;
    expect(await messageOf(resolveModel(modelId))).toContain('(404)');
  });

  test('is HF_HUB_CACHE, else in HF_HOME, unless an option says otherwise', async () => {
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
      `Cannot find model "${id}": it must be a folder that exists or a hub id such as "Qwen/Qwen3-0.6B"`,
    );
  });

  test('of a revision must not lead out of the cache', async () => {
    expect(await messageOf(resolveModel(modelId, { revision: '../../x' }))).toBe(
      'Cannot find revision "../../x": it must be a branch, a tag or a commit, such as "main"',
    );
  });

  test('of an endpoint must be an address', async () => {
    expect(await messageOf(resolveModel(modelId, { endpoint: 'huggingface.co' }))).toBe(
      'Cannot reach the hub: the endpoint must be an http or https address, got "huggingface.co"; correct HF_ENDPOINT',
    );
  });
});

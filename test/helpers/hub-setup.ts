import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { type HubServer, hashOf, startHub } from './hub-server.ts';

export const weights = 'abcdefghij'.repeat(10_000);

/** The files of the hub's model, needed and not. */
export const files = {
  '.gitattributes': 'x',
  'README.md': 'y',
  'config.json': '{"model_type":"qwen3"}',
  'model.safetensors': weights,
  'pytorch_model.bin': 'z',
  'tokenizer.json': '{}',
};
export const wantedNames = ['config.json', 'model.safetensors', 'tokenizer.json'];

interface HubSetup {
  hub: HubServer;
  /** The folder in `HF_HOME`. */
  home: string;
  cacheDir: string;
  /** The model's folder in the cache. */
  root: string;
  /** Path of the downloaded weights. */
  weightsBlob: string;
}

/** A hub and an empty cache per test, set in the environment. */
export function useHub(): HubSetup {
  const setup = {} as HubSetup;
  beforeEach(async () => {
    const home = mkdtempSync(join(tmpdir(), 'proximal-hub-'));
    const cacheDir = join(home, 'hub');
    const root = join(cacheDir, 'models--owner--tiny');
    const weightsBlob = join(root, 'blobs', hashOf('.safetensors', weights));
    Object.assign(setup, { hub: await startHub(files), home, cacheDir, root, weightsBlob });
    const unset = ['HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'HF_TOKEN', 'HF_TOKEN_PATH'];
    for (const name of [...unset, 'HF_HUB_OFFLINE']) vi.stubEnv(name, '');
    vi.stubEnv('HF_HOME', home);
    vi.stubEnv('HF_ENDPOINT', setup.hub.url);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await setup.hub.close();
    await rm(setup.home, { recursive: true });
  });
  return setup;
}

/** The error message of resolving a model. */
export function messageOf(found: Promise<string>): Promise<string> {
  return found.then(
    (folder) => expect.fail(`found ${folder}`),
    (error: Error) => error.message,
  );
}

export function readWeights(folder: string): Promise<string> {
  return readFile(join(folder, 'model.safetensors'), 'utf8');
}

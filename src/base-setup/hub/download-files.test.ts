import { existsSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashOf, modelId } from '../../../test/helpers/hub-server.ts';
import { messageOf, readWeights, useHub, weights } from '../../../test/helpers/hub-setup.ts';
import type { DownloadProgress } from './download-files.ts';
import { resolveModel } from './resolve-model.ts';

const setup = useHub();
const blobs = () => readdirSync(join(setup.root, 'blobs'));

describe('a broken connection', () => {
  test('is resumed where it broke', async () => {
    setup.hub.faults.cutAfter = [30_000, 20_000];
    const seen: number[] = [];
    const onProgress = ({ receivedBytes }: DownloadProgress) => seen.push(receivedBytes);
    const folder = await resolveModel(modelId, { onProgress });
    expect(await readWeights(folder)).toBe(weights);
    const asked = setup.hub.requests.filter((line) => line.includes('model.safetensors'));
    const path = `GET /owner/tiny/resolve/${setup.hub.commit}/model.safetensors`;
    expect(asked).toEqual([path, `${path} bytes=30000-`, `${path} bytes=50000-`]);
    expect(seen.slice(2)).toEqual(seen.slice(2).sort((a, b) => a - b));
  });

  test('that stays broken is reported, and the next call resumes', async () => {
    setup.hub.faults.cutAfter = [30_000, 0, 0, 0];
    expect(await messageOf(resolveModel(modelId))).toBe(
      'Cannot download model.safetensors of owner/tiny: the connection broke after 30000 of 100000 bytes; run again to continue from there',
    );
    expect(existsSync(setup.weightsBlob)).toBe(false);
    expect((await stat(`${setup.weightsBlob}.incomplete`)).size).toBe(30_000);
    expect(await messageOf(resolveModel(modelId, { offline: true }))).toContain('got nothing');
    setup.hub.requests.length = 0;
    const folder = await resolveModel(modelId);
    expect(await readWeights(folder)).toBe(weights);
    expect(setup.hub.requests.at(-1)).toMatch(/model\.safetensors bytes=30000-$/);
    expect(blobs()).toHaveLength(3);
  });

  test('starts over if the host does not support ranges', async () => {
    setup.hub.faults.cutAfter = [30_000];
    setup.hub.faults.ignoreRange = true;
    const folder = await resolveModel(modelId);
    expect(await readWeights(folder)).toBe(weights);
  });

  test('that goes idle is resumed', async () => {
    setup.hub.faults.silentAfter = 30_000;
    expect(await readWeights(await resolveModel(modelId, { timeout: 0.15 }))).toBe(weights);
    const starts = setup.hub.requests.flatMap((line) => /bytes=(\d+)-$/.exec(line)?.[1] ?? []);
    expect(starts).toEqual(['30000', '60000', '90000']);
  });

  test('that stays idle is reported', async () => {
    setup.hub.faults.silentAfter = 0;
    expect(await messageOf(resolveModel(modelId, { timeout: 0.2 }))).toBe(
      `Cannot download owner/tiny: ${setup.hub.url} must answer within 0.2 s, got no answer; check the connection, or pass offline: true to use a cached copy`,
    );
  });
});

describe('downloaded content', () => {
  test('is removed if its hash is wrong', async () => {
    setup.hub.faults.corrupt = true;
    const wanted = hashOf('.safetensors', weights);
    const got = hashOf('.safetensors', `!${weights.slice(1)}`);
    expect(await messageOf(resolveModel(modelId))).toBe(
      `Cannot download model.safetensors of owner/tiny: its hash must be ${wanted}, got ${got}; the file was removed; run again to download it`,
    );
    expect(blobs()).toHaveLength(2);
    setup.hub.faults.corrupt = false;
    expect(await readWeights(await resolveModel(modelId))).toBe(weights);
  });

  test('must not be longer than announced', async () => {
    setup.hub.faults.extra = 'more';
    expect(await messageOf(resolveModel(modelId))).toBe(
      'Cannot download model.safetensors: it must have 100000 bytes, got more; try again later',
    );
    expect(existsSync(setup.weightsBlob)).toBe(false);
  });

  test('must be a model in safetensors format', async () => {
    setup.hub.files = { 'config.json': '{}', 'pytorch_model.bin': 'z' };
    expect(await messageOf(resolveModel(modelId))).toBe(
      'Cannot download owner/tiny: it must have *.safetensors weights, got config.json, pytorch_model.bin',
    );
    setup.hub.files = { 'model.safetensors': 'z' };
    expect(await messageOf(resolveModel(modelId))).toBe(
      'Cannot download owner/tiny: it must have config.json, got model.safetensors',
    );
  });
});

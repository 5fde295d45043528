import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { modelId, startHub } from '../../../test/helpers/hub-server.ts';
import { messageOf, useHub } from '../../../test/helpers/hub-setup.ts';
import { resolveModel } from './resolve-model.ts';

const setup = useHub();

describe('the hub', () => {
  test('that does not know the model or revision is reported', async () => {
    expect(await messageOf(resolveModel(modelId, { revision: 'v2' }))).toBe(
      `Cannot download owner/tiny at revision "v2": the hub has no such model, revision or file (404); see ${setup.hub.url}/owner/tiny`,
    );
  });

  test.each([401, 403])('that answers %i points to the licence and HF_TOKEN', async (status) => {
    setup.hub.faults.apiStatus = status;
    const error = `Cannot download owner/tiny at revision "main": access is denied (${status}) and`;
    const remedy = `check the name, accept the licence on ${setup.hub.url}/owner/tiny and set HF_TOKEN`;
    expect(await messageOf(resolveModel(modelId))).toBe(`${error} HF_TOKEN is not set; ${remedy}`);
    expect(await messageOf(resolveModel(modelId, { token: 'x' }))).toBe(
      `${error} the token in HF_TOKEN has no access; ${remedy}`,
    );
  });

  test('that answers for the model but not its files is reported too', async () => {
    setup.hub.faults.fileStatus = 403;
    expect(await messageOf(resolveModel(modelId))).toContain('access is denied (403)');
    setup.hub.faults.fileStatus = 404;
    expect(await messageOf(resolveModel(modelId))).toContain(
      'the hub has no such model, revision or file (404)',
    );
  });

  test('that is down is reported', async () => {
    setup.hub.faults.apiStatus = 503;
    expect(await messageOf(resolveModel(modelId))).toBe(
      'Cannot download owner/tiny at revision "main": the hub answered with status 503; try again later, or pass offline: true to use a cached copy',
    );
    delete setup.hub.faults.apiStatus;
    setup.hub.faults.fileStatus = 503;
    expect(await messageOf(resolveModel(modelId))).toContain('the hub answered with status 503');
  });

  test('that does not answer is reported', async () => {
    setup.hub.faults.silent = true;
    expect(await messageOf(resolveModel(modelId, { timeout: 0.05 }))).toContain(
      'must answer within 0.05 s, got no answer',
    );
  });

  test('that refuses connections is reported', async () => {
    const { url: endpoint, close } = await startHub({});
    await close();
    expect(await messageOf(resolveModel(modelId, { endpoint }))).toBe(
      `Cannot download owner/tiny: ${endpoint} must be reachable, got ECONNREFUSED; check the connection, or pass offline: true to use a cached copy`,
    );
  });

  test('must answer with JSON', async () => {
    setup.hub.faults.page = '<html>log in to the network</html>';
    expect(await messageOf(resolveModel(modelId))).toBe(
      `Cannot download owner/tiny: ${setup.hub.url} must answer with JSON, got something else; check HF_ENDPOINT`,
    );
  });

  test('gets the token from the option, HF_TOKEN or the saved login; other hosts do not get it', async () => {
    setup.hub.token = 'secret';
    await resolveModel(modelId, { token: 'secret', cacheDir: join(setup.home, 'a') });
    vi.stubEnv('HF_TOKEN', 'secret');
    await resolveModel(modelId, { cacheDir: join(setup.home, 'b') });
    vi.stubEnv('HF_TOKEN', '');
    await writeFile(join(setup.home, 'token'), 'secret\n');
    await resolveModel(modelId, { cacheDir: join(setup.home, 'c') });
    expect(setup.hub.forwardedTokens).toEqual([undefined, undefined, undefined]);
  });
});

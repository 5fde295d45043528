import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { rewardSample, samplesOf } from '../../test/helpers/reward-samples.ts';
import { RemoteSource, type RemoteSourceOptions } from './remote-source.ts';
import { RewardError, type RewardSample } from './reward-source.ts';
import { scoreWith } from './score-samples.ts';

interface ReceivedRequest {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly samples: readonly Record<string, unknown>[] };
}

type Responder = (request: ReceivedRequest, response: ServerResponse, attempt: number) => void;

const { signal } = new AbortController();

/** A server that records requests, and a source that queries it with short delays. */
async function serve(respond: Responder, options: Partial<RemoteSourceOptions> = {}) {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as ReceivedRequest['body'];
    const received = { method: request.method, headers: request.headers, body };
    requests.push(received);
    respond(received, response, requests.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  onTestFinished(stop);
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${host}/score`;
  const source = new RemoteSource({ url: `${url}?key=secret`, backoff: 1e-3, ...options });
  const score = (samples: readonly RewardSample[]) =>
    scoreWith(source, samples, { signal, timeout: 1e-3 });
  return { requests, source, score, url, host, stop };
}

const send = (response: ServerResponse, status: number, text: string) =>
  response.writeHead(status).end(text);
const lengths: Responder = ({ body }, response) => {
  const scores = body.samples.map(({ response: text }) => (text as string).length);
  send(response, 200, JSON.stringify({ scores }));
};

describe('RemoteSource', () => {
  test('posts samples as JSON and returns their scores', async () => {
    const { requests, score, source, host } = await serve(lengths, {
      headers: { authorization: 'Bearer token' },
    });
    const row = { answer: 42 };
    expect(await score([rewardSample({ row }), rewardSample({ finished: false })])).toEqual([3, 3]);
    expect(source.name).toBe(host);
    const [{ method, headers, body }] = requests as [ReceivedRequest];
    expect(method).toBe('POST');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer token',
    });
    const sample = { prompt: 'a b', response: 'c d', tokens: [4, 5] };
    expect(body).toEqual({
      samples: [
        { ...sample, finished: true, row },
        { ...sample, finished: false },
      ],
    });
  });

  test('authorises with the credentials of the URL, a token or headers', async () => {
    const { requests, url, host } = await serve(lengths);
    const authorizationOf = async (options: Partial<RemoteSourceOptions>) => {
      const source = new RemoteSource({ url, ...options });
      expect(await source.score(samplesOf('ab'), { signal })).toEqual([2]);
      return requests.at(-1)!.headers.authorization;
    };
    const withCredentials = url.replace('//', '//Ada:p%40ss%20w%C3%B6rd@');
    const basic = `Basic ${Buffer.from('Ada:p@ss wörd').toString('base64')}`;
    expect(await authorizationOf({})).toBeUndefined();
    expect(await authorizationOf({ url: withCredentials })).toBe(basic);
    expect(new RemoteSource({ url: withCredentials }).name).toBe(host);
    vi.stubEnv('PROXIMAL_REWARD_TOKEN', 'from-environment');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await authorizationOf({})).toBe('Bearer from-environment');
    expect(await authorizationOf({ token: 'mine' })).toBe('Bearer mine');
    expect(await authorizationOf({ url: withCredentials })).toBe(basic);
    expect(await authorizationOf({ headers: { Authorization: 'Key 1' } })).toBe('Key 1');
  });

  test('splits samples into batches and keeps their order', async () => {
    const { requests, score } = await serve(
      (request, response) => {
        // The first batch gets its response last.
        setTimeout(() => lengths(request, response, 0), request.body.samples.length === 2 ? 20 : 0);
      },
      { batchSize: 2 },
    );
    expect(await score(samplesOf('a', 'ab', 'abc'))).toEqual([1, 2, 3]);
    expect(requests.map(({ body }) => body.samples.length).sort()).toEqual([1, 2]);
  });

  test('accepts one score per token', async () => {
    const { score } = await serve((_, response) => send(response, 200, '{"scores": [[1, 2], 3]}'));
    expect(await score(samplesOf('ab', 'c'))).toEqual([[1, 2], 3]);
  });

  test.each([429, 500, 503])('retries after status %d', async (status) => {
    const { requests, score } = await serve((request, response, attempt) => {
      if (attempt < 3) send(response, status, 'busy');
      else lengths(request, response, attempt);
    });
    expect(await score(samplesOf('ab'))).toEqual([2]);
    expect(requests.length).toBe(3);
  });

  test('retries after a broken connection and after a timeout', async () => {
    const { requests, score } = await serve(
      (request, response, attempt) => {
        if (attempt === 1) response.destroy();
        else if (attempt > 2) lengths(request, response, attempt);
      },
      { timeout: 0.2 },
    );
    expect(await score(samplesOf('ab'))).toEqual([2]);
    expect(requests.length).toBeGreaterThanOrEqual(3);
  });

  test.each([400, 401, 403, 404])('does not retry after status %d', async (status) => {
    const { requests, score, url, host } = await serve((_, response) =>
      send(response, status, 'no\n such  thing'),
    );
    await expect(score(samplesOf('ab'))).rejects.toThrow(
      `Cannot score with "${host}": ${url} must respond with status 200, got ${status} (no such thing)`,
    );
    expect(requests.length).toBe(1);
  });

  test('reports the URL, the status and the attempts when retries run out', async () => {
    const { requests, score, url } = await serve((_, response) => send(response, 502, ''), {
      name: 'judge',
      retries: 2,
    });
    await expect(score(samplesOf('ab'))).rejects.toThrow(
      `Cannot score with "judge": ${url} must respond with status 200, got 502, tried 3 times`,
    );
    expect(requests.length).toBe(3);
  });

  test('stops reading a response that never ends, without a retry', async () => {
    const chunk = Buffer.alloc(2 ** 20, '[');
    let sent = 0;
    const { requests, score, url } = await serve(
      (_, response) => {
        const write = () => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        };
        response.on('drain', write);
        write();
      },
      { name: 'judge' },
    );
    await expect(score(samplesOf('ab'))).rejects.toThrow(
      new RewardError(
        `Cannot score with "judge": ${url} must respond with at most 64 MiB, got more`,
      ),
    );
    expect(requests.length).toBe(1);
    expect(sent).toBeLessThan(256 * 2 ** 20);
  });

  test('hides secrets that an error page repeats', async () => {
    const echo: Responder = ({ headers }, response, attempt) => {
      const text = `POST /score?key=secret, ${headers.authorization}`;
      if (attempt === 1) send(response, 403, text);
      else send(response, 200, attempt === 2 ? JSON.stringify({ text }) : text);
    };
    const { score, url } = await serve(echo, { name: 'judge', token: 'my-token' });
    const hidden = 'POST /score…, …';
    await expect(score(samplesOf('ab'))).rejects.toThrow(
      `Cannot score with "judge": ${url} must respond with status 200, got 403 (${hidden})`,
    );
    await expect(score(samplesOf('ab'))).rejects.toThrow(`got {"text":"${hidden}"}`);
    const error = await score(samplesOf('ab')).catch((thrown: Error) => thrown.message);
    expect(error).toContain('it must respond with JSON (');
    expect(error).not.toMatch(/secret|my-token/);
  });

  test('throws if the server does not respond', async () => {
    const { score, url } = await serve(() => {}, { name: 'judge', retries: 0, timeout: 0.03 });
    await expect(score(samplesOf('ab'))).rejects.toThrow(
      `Cannot score with "judge": ${url} must respond within 0.03 s, got nothing, tried once`,
    );
  });

  test('throws if the server is unreachable', async () => {
    const { source, url, host, stop } = await serve(lengths, { retries: 1 });
    await stop();
    await expect(source.score(samplesOf('ab'), { signal })).rejects.toThrow(
      `Cannot score with "${host}": ${url} must be reachable, got ECONNREFUSED, tried 2 times`,
    );
  });

  test.each([
    ['<html>', 'Cannot score with "judge": it must respond with JSON ('],
    ['[1]', 'Cannot score with "judge": it must respond with { "scores": [...] }, got [1]'],
    ['{"score": 1}', 'it must respond with { "scores": [...] }, got {"score": 1}'],
    ['{"scores": 1}', 'Cannot use the scores of "judge": they must be a list of 1, got 1'],
    ['{"scores": [1, 2]}', 'Cannot use the scores of "judge": there must be 1, got 2'],
    ['{"scores": [null]}', 'the score of sample 0 must be a finite number, got null'],
  ])('throws for the response %s without a retry', async (text, message) => {
    const { requests, score } = await serve((_, response) => send(response, 200, text), {
      name: 'judge',
    });
    await expect(score(samplesOf('ab'))).rejects.toThrow(message);
    expect(requests.length).toBe(1);
  });

  test('throws for wrong batch counts even if the total is correct', async () => {
    const { score } = await serve(
      ({ body }, response) => {
        const scores = body.samples.length === 2 ? [1] : [2, 3];
        send(response, 200, JSON.stringify({ scores }));
      },
      { name: 'judge', batchSize: 2 },
    );
    await expect(score(samplesOf('a', 'b', 'c'))).rejects.toThrow(
      /Cannot use the scores of "judge": there must be (2, got 1|1, got 2)/,
    );
  });

  test('an abort ends the delay between attempts', async () => {
    const controller = new AbortController();
    const reason = new Error('Ctrl-C');
    const { source, requests } = await serve(
      (_, response) => {
        send(response, 500, '');
        setImmediate(() => controller.abort(reason));
      },
      { backoff: 1e3 },
    );
    const pending = scoreWith(source, samplesOf('a'), { signal: controller.signal, timeout: 1e-3 });
    await expect(pending).rejects.toBe(reason);
    expect(requests.length).toBe(1);
  });

  test.each(['', 'localhost:8000/score', 'file:///score'])('rejects the URL "%s"', (url) => {
    expect(() => new RemoteSource({ url })).toThrow(
      `Cannot use the reward server ${url}: it must be a URL such as http://localhost:8000/score`,
    );
  });

  test('rejects a URL without showing its password', () => {
    expect(() => new RemoteSource({ url: 'http://me:pass@host:99999/score?key=1' })).toThrow(
      'Cannot use the reward server http://host:99999/score: it must be a URL',
    );
  });

  test('rejects a batch size of 0', () => {
    const url = 'http://localhost:8000/score';
    expect(() => new RemoteSource({ url, batchSize: 0 })).toThrow(
      `Cannot use the reward server ${url}: batchSize must be a whole number ≥ 1, got 0`,
    );
  });
});

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { readAdapter } from '../../src/base-setup/index.ts';
import type { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import { type GeneratedText, Generator } from '../../src/generation/index.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import type {
  ReceivedRequest,
  SamplingRequest,
  ServerModel,
  ServerSettings,
} from './rollout-server-model.ts';
import { sglangRoutes } from './rollout-server-sglang.ts';
import { vllmRoutes } from './rollout-server-vllm.ts';

/** Starts a server with the routes and field names of vLLM or SGLang, which really generates with a
 *  model and with adapters that it reads from their folders. It stops after the test. */
export async function startRolloutServer(
  model: LoadedModel,
  { kind = 'vllm', ...options }: Partial<ServerSettings> & { kind?: 'vllm' | 'sglang' } = {},
) {
  const settings: ServerSettings = {
    version: '0.32.0',
    maxLength: 96,
    rawLogprobs: false,
    intercept: () => undefined,
    change: (_, body) => body,
    ...options,
  };
  const adapters = new Map<string, LoraAdapter>();
  const served: ServerModel = {
    settings,
    adapters,
    load: async (name, folder) => {
      adapters.set(name, (await readAdapter(folder, model.base)).adapter);
    },
    generate: (request) => generate(model, served, request),
  };
  const routes = kind === 'vllm' ? vllmRoutes : sglangRoutes;
  const requests: ReceivedRequest[] = [];
  let pending = 0;
  let mostPending = 0;
  const respond = async (request: ReceivedRequest, response: ServerResponse) => {
    const { route, body } = request;
    const count = requests.filter((one) => one.route === route).length;
    const reply = settings.intercept(request, count);
    if (reply === 'hang') return;
    if (reply === 'disconnect') return void response.destroy();
    if (reply !== undefined) return void response.writeHead(reply.status).end(reply.text);
    const run = routes[route];
    const [status, result] = run
      ? await run(body, served)
      : ([404, { detail: 'Not Found' }] as const);
    const changed = status === 200 ? settings.change(request, result) : result;
    response.writeHead(status).end(typeof changed === 'string' ? changed : JSON.stringify(changed));
  };
  const server = createServer(async (incoming, response) => {
    const content = await text(incoming);
    const request = {
      route: incoming.url!,
      body: content === '' ? {} : JSON.parse(content),
      authorization: incoming.headers.authorization,
    };
    requests.push(request);
    mostPending = Math.max(mostPending, ++pending);
    await respond(request, response);
    pending--;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    ...{ settings, adapters, requests, url, rollouts: `${kind}:${url}` },
    /** Routes that were requested, in order. */
    routes: () => requests.map(({ route }) => route),
    bodies: (route: string) =>
      requests.filter((one) => one.route === route).map(({ body }) => body),
    mostPending: () => mostPending,
    /** Forgets everything, as a restart does. */
    restart: () => adapters.clear(),
  };
}

async function generate(
  { base, tokenizer }: LoadedModel,
  { adapters, settings }: ServerModel,
  request: SamplingRequest,
): Promise<GeneratedText[]> {
  const { adapter: name, tokens, samples, temperature, ...sampling } = request;
  const adapter = name === undefined ? undefined : adapters.get(name);
  const generator = new Generator({ base, tokenizer, adapter, precision: 'f32-feeds' });
  try {
    return await generator.generate([tokens], {
      ...sampling,
      temperature: settings.rawLogprobs ? 1 : temperature,
      numReturnSequences: samples,
    });
  } finally {
    await generator.dispose();
  }
}

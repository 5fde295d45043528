import type { Page } from 'playwright-core';
import {
  type Backend,
  type BackendRuntime,
  type Tensor,
  tensor,
} from '../../../src/engine/runtime/index.ts';

/** How a tensor crosses over to the page. */
interface SentTensor {
  readonly type: Tensor['dtype'];
  readonly dims: readonly number[];
  /** In base 64. */
  readonly data: string;
}

const arrays = {
  float32: Float32Array,
  int32: Int32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const;

/** The builds of onnxruntime-web by their providers. */
const builds = { wasm: 'ort.wasm.min.mjs', webgpu: 'ort.webgpu.min.mjs' } as const;

/** What the page does. */
const pageScript = (provider: keyof typeof builds) => `
const types = { float32: Float32Array, int32: Int32Array, int8: Int8Array, uint8: Uint8Array, bool: Uint8Array };
const decode = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const encode = (bytes) => {
  let text = '';
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
  return btoa(text);
};
const sessions = [];
const ready = import('./${builds[provider]}');
globalThis.createSession = async ({ model, externalData }) => {
  const ort = await ready;
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(decode(model), {
    executionProviders: ['${provider}'],
    logSeverityLevel: 4,
    externalData: externalData.map(({ path, data }) => ({ path, data: decode(data) })),
  });
  return sessions.push(session) - 1;
};
globalThis.runSession = async ({ id, feeds }) => {
  const ort = await ready;
  const tensors = Object.entries(feeds).map(([name, { type, dims, data }]) =>
    [name, new ort.Tensor(type, new types[type](decode(data).buffer), dims)]);
  const results = await sessions[id].run(Object.fromEntries(tensors));
  return Object.fromEntries(Object.entries(results).map(([name, { type, dims, data }]) =>
    [name, { type, dims, data: encode(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) }]));
};
globalThis.releaseSession = (id) => sessions[id].release();
`;

/** onnxruntime-web in a page of a browser. Graphs and tensors are sent there, so that the conformance run
 *  is the same as on other devices. */
export class BrowserBackend implements Backend {
  readonly device = 'web';
  readonly target: Backend['target'];
  readonly keepsTensors = false;
  private readonly page: Page;

  private constructor(page: Page, target: Backend['target']) {
    this.page = page;
    this.target = target;
  }

  /** @param address a server of the files of onnxruntime-web */
  static async open(
    page: Page,
    { address, provider }: { readonly address: string; readonly provider: keyof typeof builds },
  ): Promise<BrowserBackend> {
    await page.goto(`${address}ort.wasm.min.mjs`);
    await page.evaluate(pageScript(provider));
    return new BrowserBackend(page, provider === 'webgpu' ? 'webgpu' : 'cpu');
  }

  async open(): Promise<BackendRuntime> {
    return {
      createSession: async ({ bytes, externalData }) => {
        const data = [...externalData].map(([path, part]) => ({ path, data: encode(part) }));
        const id = await this.call('createSession', { model: encode(bytes), externalData: data });
        return {
          run: async (feeds) => {
            const sent = Object.entries(feeds).map(([name, value]) => [name, send(value)]);
            const outputs = await this.call('runSession', { id, feeds: Object.fromEntries(sent) });
            const received = Object.entries(outputs as Record<string, SentTensor>);
            return Object.fromEntries(received.map(([name, value]) => [name, receive(value)]));
          },
          release: async () => {
            await this.call('releaseSession', id);
          },
        };
      },
    };
  }

  private call(name: string, argument: unknown): Promise<unknown> {
    return this.page.evaluate(`globalThis.${name}(${JSON.stringify(argument)})`);
  }
}

function encode({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('base64');
}

function send({ dtype, shape, data }: Tensor): SentTensor {
  return { type: dtype, dims: shape, data: encode(data) };
}

function receive({ type, dims, data }: SentTensor): Tensor {
  const { buffer } = Uint8Array.from(Buffer.from(data, 'base64'));
  return tensor(new arrays[type as keyof typeof arrays](buffer) as Float32Array, dims) as Tensor;
}

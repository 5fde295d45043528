import type { InferenceSession, TensorConstructor } from 'onnxruntime-node';
import type { Backend, BackendRuntime } from '../backend.ts';
import { wrapSession } from './ort-session.ts';
import type { WebBackendOptions } from './web-options.ts';

/** The parts of onnxruntime-web that are used. */
interface WebModule {
  readonly InferenceSession: {
    create(model: Uint8Array, options: InferenceSession.SessionOptions): Promise<InferenceSession>;
  };
  readonly Tensor: TensorConstructor;
  readonly env: { readonly wasm: { numThreads?: number; wasmPaths?: unknown } };
}

/** onnxruntime-web: WebAssembly or, in a browser that has it, WebGPU. */
export async function webRuntime(
  backend: Backend,
  { load = () => import('onnxruntime-web'), provider = 'wasm', threads = 1 }: WebBackendOptions,
): Promise<BackendRuntime> {
  const { InferenceSession, Tensor, env } = await loadModule(load);
  env.wasm.numThreads = threads;
  // One session is created and one graph runs at a time: the build for WebGPU allows no more.
  const queue = new SerialQueue();
  return {
    async createSession({ bytes, externalData }, { arena, keep }) {
      const session = await queue.add(() =>
        InferenceSession.create(bytes, {
          executionProviders: [provider],
          enableCpuMemArena: arena,
          logSeverityLevel: 4,
          externalData: [...externalData].map(([path, data]) => ({ path, data })),
          ...(keep.length > 0 && {
            preferredOutputLocation: Object.fromEntries(keep.map((name) => [name, 'gpu-buffer'])),
          }),
        }),
      );
      const wrapped = wrapSession({ backend, session, Tensor });
      return {
        run: (feeds) => queue.add(() => wrapped.run(feeds)),
        release: () => queue.add(() => wrapped.release()),
      };
    },
  };
}

async function loadModule(load: () => Promise<unknown>): Promise<WebModule> {
  try {
    return (await load()) as WebModule;
  } catch (error) {
    throw new Error(
      'Cannot run on device "web": it needs the package onnxruntime-web; install it with npm install onnxruntime-web',
      { cause: error },
    );
  }
}

/** Runs tasks one after the other. */
class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  add<T>(task: () => Promise<T>): Promise<T> {
    const result = this.last.then(task, task);
    this.last = result;
    return result;
  }
}

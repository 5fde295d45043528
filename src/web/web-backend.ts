import { WebBackend } from '../engine/runtime/index.ts';
import type { WasmOptions } from './messages.ts';

/** More threads than this do not make small models faster. */
const MAX_THREADS = 4;

/** The globals of a page or worker that are used. */
const page = globalThis as unknown as {
  readonly crossOriginIsolated?: boolean;
  readonly navigator?: { readonly hardwareConcurrency?: number };
  readonly WebAssembly: { readonly Module: new (bytes: Uint8Array) => object };
};

/** Number of threads that WebAssembly can use on this page. */
export function wasmThreads(): number {
  const { crossOriginIsolated = false, navigator } = page;
  return crossOriginIsolated ? Math.min(navigator?.hardwareConcurrency ?? 1, MAX_THREADS) : 1;
}

/** onnxruntime-web with WebAssembly, in this page or worker. */
export function createWebBackend({ folder, threads = wasmThreads() }: WasmOptions): WebBackend {
  expectWasm();
  return new WebBackend({
    threads,
    load: async () => {
      const module = await import('onnxruntime-web/wasm');
      if (folder !== undefined) {
        const file = `${folder.replace(/\/$/, '')}/ort-wasm-simd-threaded`;
        module.env.wasm.wasmPaths = { mjs: `${file}.mjs`, wasm: `${file}.wasm` };
      }
      return module;
    },
  });
}

/** The smallest module: magic number and version. */
const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Requires that this page may run WebAssembly. */
function expectWasm(): void {
  try {
    new page.WebAssembly.Module(EMPTY_MODULE);
  } catch (cause) {
    throw new Error(
      "Cannot run a model: the browser must allow WebAssembly on this page, got a refusal; allow it in the browser's settings, or add 'wasm-unsafe-eval' to the page's Content-Security-Policy",
      { cause },
    );
  }
}

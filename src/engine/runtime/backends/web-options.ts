/** How onnxruntime-web runs. */
export interface WebBackendOptions {
  /** Imports the build of onnxruntime-web to use; `onnxruntime-web` itself by default.
   *  @example () => import('onnxruntime-web/wasm') */
  readonly load?: () => Promise<unknown>;
  /** `wasm` by default; `webgpu` needs a browser with a GPU and a build that supports it. */
  readonly provider?: 'wasm' | 'webgpu';
  /** Threads of WebAssembly, which need a cross-origin isolated page; 1 by default. */
  readonly threads?: number;
}

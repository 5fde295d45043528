import type { Backend, BackendRuntime } from '../backend.ts';
import type { WebBackendOptions } from './web-options.ts';

/** Runs graphs by onnxruntime-web, an optional package. Tensors and sessions belong to one instance. */
export class WebBackend implements Backend {
  readonly device = 'web';
  readonly target: Backend['target'];
  readonly keepsTensors: boolean;
  private readonly options: WebBackendOptions;
  private runtime: Promise<BackendRuntime> | undefined;

  constructor(options: WebBackendOptions = {}) {
    const isGpu = options.provider === 'webgpu';
    this.options = options;
    this.target = isGpu ? 'webgpu' : 'cpu';
    this.keepsTensors = isGpu;
  }

  open(): Promise<BackendRuntime> {
    this.runtime ??= import('./web-runtime.ts').then(({ webRuntime }) =>
      webRuntime(this, this.options),
    );
    return this.runtime;
  }
}

import type { Backend, BackendRuntime } from '../backend.ts';

/** Runs graphs by onnxruntime-node, on the processor or a GPU. */
export class NodeBackend implements Backend {
  readonly device: 'cpu' | 'webgpu' | 'cuda';
  readonly target: Backend['target'];
  readonly keepsTensors: boolean;
  private runtime: Promise<BackendRuntime> | undefined;

  constructor(device: 'cpu' | 'webgpu' | 'cuda') {
    this.device = device;
    this.target = device === 'webgpu' ? 'webgpu' : 'cpu';
    this.keepsTensors = device === 'webgpu';
  }

  open(): Promise<BackendRuntime> {
    this.runtime ??= import('./node-runtime.ts').then(({ nodeRuntime }) => nodeRuntime(this));
    return this.runtime;
  }
}

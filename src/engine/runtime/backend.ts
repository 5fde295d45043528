import type { LoweredGraph } from '../onnx/lower.ts';
import type { LoweringTarget } from '../onnx/lowering-context.ts';
import type { Tensor } from './tensor.ts';

/** A place where graphs run: the processor, a GPU, or `web`: onnxruntime-web, in a browser or under Node. */
export type Device = 'cpu' | 'webgpu' | 'cuda' | 'web';

/** A device that graphs can be compiled for. Creating one loads nothing; `open` loads ONNX Runtime. */
export interface Backend {
  readonly device: Device;
  /** The kernels that graphs are lowered to. */
  readonly target: LoweringTarget;
  /** Whether outputs can stay in the device's own memory. Otherwise all tensors are host arrays. */
  readonly keepsTensors: boolean;
  /** Loads ONNX Runtime; later calls return the same runtime. */
  open(): Promise<BackendRuntime>;
}

/** ONNX Runtime on one device. */
export interface BackendRuntime {
  /** Creates a session of a model. */
  createSession(model: LoweredGraph, settings: SessionSettings): Promise<BackendSession>;
  /** Resolves the links in the path of a file with constants; missing if the device reads no files. */
  readonly resolveFile?: (file: string) => string;
}

/** How a session runs its model. */
export interface SessionSettings {
  /** Threads inside one op, on a processor. */
  readonly threads: number;
  /** Whether the memory of a run is kept for the next one. */
  readonly arena: boolean;
  /** Outputs of the model that stay on a device with its own memory. */
  readonly keep: readonly string[];
  /** Where ONNX Runtime writes the provider and time of every node; nothing is written without it. */
  readonly profile?: string | undefined;
}

/** A model that is ready to run. */
export interface BackendSession {
  /** Inputs and outputs have the names that they have in the model. */
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>;
  /** Frees the session. */
  release(): Promise<void>;
}

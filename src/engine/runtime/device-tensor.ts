import { formatType } from '../graph/value.ts';
import type { Backend } from './backend.ts';
import type { HostArrays, HostDType, Tensor } from './tensor.ts';

/** Memory of a device, as ONNX Runtime hands it out. */
interface DeviceBuffer {
  /** Frees the memory. */
  dispose(): void;
}

interface DeviceTensorOptions<D extends HostDType> {
  readonly dtype: D;
  readonly shape: readonly number[];
  readonly buffer: DeviceBuffer;
  readonly backend: Backend;
}

const live = { tensors: 0, bytes: 0 };
const bytesPerElement = { float32: 4, int32: 4, bool: 1, float16: 2, int8: 1 } as const;

/** Frees tensors that were dropped without `freeTensors`, when the garbage collector finds them. */
const forgotten = new FinalizationRegistry(
  ({ buffer, bytes }: { buffer: DeviceBuffer; bytes: number }) => release(buffer, bytes),
);

function release(buffer: DeviceBuffer, bytes: number): void {
  buffer.dispose();
  live.tensors--;
  live.bytes -= bytes;
}

/** A tensor in a device's memory. It can be fed to sessions of the same device; its numbers are only
 *  available through `readTensor`. */
export class DeviceTensor<D extends HostDType = HostDType> implements Tensor<D> {
  readonly dtype: D;
  readonly shape: readonly number[];
  readonly backend: Backend;
  private current: DeviceBuffer | undefined;

  constructor({ dtype, shape, buffer, backend }: DeviceTensorOptions<D>) {
    this.dtype = dtype;
    this.shape = shape;
    this.backend = backend;
    this.current = buffer;
    live.tensors++;
    live.bytes += this.bytes;
    forgotten.register(this, { buffer, bytes: this.bytes }, this);
  }

  /** Always throws: ONNX Runtime would abort the process or return NaN instead. */
  get data(): HostArrays[D] {
    throw new Error(
      `Internal: a tensor ${formatType(this)} is in the memory of ${this.backend.device}; readTensor() copies it`,
    );
  }

  /** The memory; throws if it was freed. */
  get buffer(): DeviceBuffer {
    if (this.current === undefined) {
      throw new Error(`Internal: a tensor ${formatType(this)} was used after it was freed`);
    }
    return this.current;
  }

  private get bytes(): number {
    return this.shape.reduce((size, dim) => size * dim, bytesPerElement[this.dtype]);
  }

  /** Frees the memory; later calls do nothing. */
  free(): void {
    if (this.current === undefined) return;
    forgotten.unregister(this);
    release(this.current, this.bytes);
    this.current = undefined;
  }
}

/** Tensors in the memory of devices that were not freed yet. */
export function countDeviceTensors(): { readonly tensors: number; readonly bytes: number } {
  return { ...live };
}

/** Whether a tensor is in host memory, so that its numbers can be read at once. */
export function isOnHost(tensor: Tensor): boolean {
  return !(tensor instanceof DeviceTensor);
}

/** Frees tensors in the memory of a device; those in host memory are left to the garbage collector. */
export function freeTensors(...tensors: readonly (Tensor | undefined)[]): void {
  for (const tensor of tensors) if (tensor instanceof DeviceTensor) tensor.free();
}

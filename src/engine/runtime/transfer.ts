import { type Graph, input, makeGraph } from '../graph/index.ts';
import type { Backend } from './backend.ts';
import { type CompiledGraph, compile } from './compile.ts';
import { DeviceTensor } from './device-tensor.ts';
import type { HostDType, Tensor } from './tensor.ts';

/** Copies a tensor into the memory of a device, for use in any number of runs; returns it unchanged if
 *  the device has no memory of its own. */
export async function uploadTensor<D extends HostDType>(
  tensor: Tensor<D>,
  backend: Backend,
): Promise<Tensor<D>> {
  if (!backend.keepsTensors || tensor instanceof DeviceTensor) return tensor;
  return copy(tensor, backend, 'all');
}

/** A tensor in host memory: a copy if it is in the memory of a device. */
export async function readTensor<D extends HostDType>(tensor: Tensor<D>): Promise<Tensor<D>> {
  return tensor instanceof DeviceTensor ? copy<D>(tensor, tensor.backend, 'none') : tensor;
}

/** ONNX Runtime has no call to copy memory, so a graph does. */
async function copy<D extends HostDType>(
  x: Tensor<D>,
  backend: Backend,
  keep: 'all' | 'none',
): Promise<Tensor<D>> {
  const compiled = await copier(backend, { x, keep });
  const { y } = await compiled.run({ x });
  return y as Tensor<D>;
}

const copiers = new WeakMap<Backend, Map<string, Promise<CompiledGraph>>>();

/** The graph y = x for tensors of the same type and number of axes; it is never disposed. */
function copier(
  device: Backend,
  { x: { dtype, shape }, keep }: { readonly x: Tensor; readonly keep: 'all' | 'none' },
): Promise<CompiledGraph> {
  const known = copiers.get(device) ?? new Map<string, Promise<CompiledGraph>>();
  copiers.set(device, known);
  const key = `${dtype} ${shape.length} ${keep}`;
  const graph = (): Graph =>
    makeGraph({
      y: input(
        'x',
        shape.map((_, axis) => `D${axis}`),
        dtype,
      ),
    });
  const compiled =
    known.get(key) ?? compile(graph(), { device, keep: keep === 'all' ? ['y'] : [] });
  known.set(key, compiled);
  return compiled;
}

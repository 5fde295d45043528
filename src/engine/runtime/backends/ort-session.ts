import type { InferenceSession, Tensor as OrtTensor, TensorConstructor } from 'onnxruntime-node';
import { formatType } from '../../graph/value.ts';
import type { Backend, BackendSession } from '../backend.ts';
import { DeviceTensor } from '../device-tensor.ts';
import { type HostDType, type Tensor, tensor } from '../tensor.ts';
import { explainRunError } from './device-error.ts';

interface OrtParts {
  readonly backend: Backend;
  readonly session: InferenceSession;
  readonly Tensor: TensorConstructor;
}

/** A session of either ONNX Runtime package as ours: only the types of tensors differ. */
export function wrapSession({ backend, session, Tensor }: OrtParts): BackendSession {
  return {
    async run(feeds) {
      const ortFeeds: Record<string, OrtTensor> = {};
      for (const [name, value] of Object.entries(feeds)) {
        ortFeeds[name] =
          value instanceof DeviceTensor
            ? bufferOf(value, backend)
            : new Tensor(value.dtype, value.data as Float32Array, value.shape);
      }
      const results = await session.run(ortFeeds).catch((error: Error) => {
        throw backend.keepsTensors ? explainRunError(backend.device, error) : error;
      });
      const outputs: Record<string, Tensor> = {};
      for (const [name, result] of Object.entries(results)) {
        outputs[name] = fromOrt(result as OrtTensor, backend);
      }
      return outputs;
    },
    release: () => session.release(),
  };
}

/** ONNX Runtime takes memory of another device without an error and computes NaN. */
function bufferOf(value: DeviceTensor, backend: Backend): OrtTensor {
  if (value.backend !== backend) {
    throw new Error(
      `Internal: a tensor ${formatType(value)} of ${value.backend.device} was fed to ${backend.device}; readTensor() copies it`,
    );
  }
  return value.buffer as OrtTensor;
}

function fromOrt(result: OrtTensor, backend: Backend): Tensor {
  const { dims: shape, type, location } = result;
  if (location !== 'gpu-buffer') return tensor(result.data as Float32Array, shape) as Tensor;
  return new DeviceTensor({ dtype: type as HostDType, shape, buffer: result, backend });
}

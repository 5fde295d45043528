export type { Dtype, FloatDtype } from './dtypes.ts';
export { SafetensorsReader } from './reader.ts';
export type { TensorInfo } from './tensor-info.ts';
export type { NamedTensor, TensorStream } from './tensor-stream.ts';
export {
  type ShardedWriteOptions,
  type WriteOptions,
  writeSafetensors,
  writeShardedSafetensors,
} from './writer.ts';

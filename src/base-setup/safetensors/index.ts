export { SafetensorsReader } from './reader.ts';
export type { Dtype, FloatDtype, TensorInfo } from './tensor-info.ts';
export {
  type NamedTensor,
  type ShardedWriteOptions,
  type TensorStream,
  type WriteOptions,
  writeSafetensors,
  writeShardedSafetensors,
} from './writer.ts';

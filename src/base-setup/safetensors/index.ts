export { openSafetensors } from './open-weights.ts';
export { SafetensorsReader } from './reader.ts';
export type { Dtype, FloatDtype, TensorInfo } from './tensor-info.ts';
export type { NamedTensor, TensorStream, WriteOptions } from './writer.ts';
export {
  type ShardedWriteOptions,
  writeSafetensors,
  writeShardedSafetensors,
} from './writer-files.ts';

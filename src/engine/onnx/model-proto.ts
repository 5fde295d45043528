import { ProtoWriter } from './protobuf.ts';

/** TensorProto.DataType numbers of onnx.proto. */
export const onnxDataType = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  bfloat16: 16,
} as const;

type OnnxDType = keyof typeof onnxDataType;

export type OnnxAttribute = number | bigint | string | readonly number[];

export interface OnnxNode {
  readonly name: string;
  readonly opType: string;
  readonly domain?: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Integer attributes are bigint (or arrays of integers); `number` is written as FLOAT. */
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
}

/** Bytes outside the model: `offset` and `length` in `location`. */
interface ExternalLocation {
  readonly location: string;
  readonly offset: number;
  readonly length: number;
}

export interface OnnxTensor {
  readonly name: string;
  readonly dtype: OnnxDType;
  readonly dims: readonly number[];
  readonly data: Uint8Array | ExternalLocation;
}

interface OnnxValueInfo {
  readonly name: string;
  readonly dtype: OnnxDType;
  readonly dims: readonly (number | string)[];
}

export interface OnnxModel {
  readonly name: string;
  readonly nodes: readonly OnnxNode[];
  readonly inputs: readonly OnnxValueInfo[];
  readonly outputs: readonly OnnxValueInfo[];
  readonly initializers: readonly OnnxTensor[];
}

const IR_VERSION = 10;
const OPSETS = { '': 21, 'com.microsoft': 1 } as const;

/** Serialises a model as ONNX's ModelProto (field numbers of onnx.proto). */
export function encodeModel(model: OnnxModel): Uint8Array {
  const graph = new ProtoWriter();
  for (const node of model.nodes) graph.message(1, encodeNode(node));
  graph.string(2, model.name);
  for (const tensor of model.initializers) graph.message(5, encodeTensor(tensor));
  for (const input of model.inputs) graph.message(11, encodeValueInfo(input));
  for (const output of model.outputs) graph.message(12, encodeValueInfo(output));

  const proto = new ProtoWriter().int(1, IR_VERSION).string(2, 'proximal').message(7, graph);
  for (const [domain, version] of Object.entries(OPSETS)) {
    proto.message(8, new ProtoWriter().string(1, domain).int(2, version));
  }
  return proto.finish();
}

function encodeNode(node: OnnxNode): ProtoWriter {
  const proto = new ProtoWriter();
  for (const input of node.inputs) proto.string(1, input);
  for (const output of node.outputs) proto.string(2, output);
  proto.string(3, node.name).string(4, node.opType);
  for (const [name, value] of Object.entries(node.attributes ?? {})) {
    proto.message(5, encodeAttribute(name, value));
  }
  return node.domain === undefined ? proto : proto.string(7, node.domain);
}

/** AttributeProto: type numbers FLOAT 1, INT 2, STRING 3, INTS 7. */
function encodeAttribute(name: string, value: OnnxAttribute): ProtoWriter {
  const proto = new ProtoWriter().string(1, name);
  if (typeof value === 'number') return proto.float(2, value).int(20, 1);
  if (typeof value === 'bigint') return proto.int(3, value).int(20, 2);
  if (typeof value === 'string') return proto.string(4, value).int(20, 3);
  return proto.packedInts(8, value).int(20, 7);
}

function encodeTensor(tensor: OnnxTensor): ProtoWriter {
  const proto = new ProtoWriter()
    .packedInts(1, tensor.dims)
    .int(2, onnxDataType[tensor.dtype])
    .string(8, tensor.name);
  if (tensor.data instanceof Uint8Array) return proto.bytes(9, tensor.data);
  for (const [key, value] of Object.entries(tensor.data)) {
    proto.message(13, new ProtoWriter().string(1, key).string(2, String(value)));
  }
  return proto.int(14, 1);
}

function encodeValueInfo(info: OnnxValueInfo): ProtoWriter {
  const shape = new ProtoWriter();
  for (const dim of info.dims) {
    const proto = new ProtoWriter();
    shape.message(1, typeof dim === 'number' ? proto.int(1, dim) : proto.string(2, dim));
  }
  const tensorType = new ProtoWriter().int(1, onnxDataType[info.dtype]).message(2, shape);
  return new ProtoWriter()
    .string(1, info.name)
    .message(2, new ProtoWriter().message(1, tensorType));
}

import { type Graph, topologicalOrder } from '../graph/graph.ts';
import type { ConstantData, FileSlice } from '../graph/ops/source.ts';
import { nameValues } from '../graph/print.ts';
import type { TensorType, Value } from '../graph/value.ts';
import { LoweringContext, type LoweringTarget } from './lowering-context.ts';
import { encodeModel, type OnnxModel, type OnnxNode, type OnnxTensor } from './model-proto.ts';
import { type LoweredOp, rules } from './rules.ts';

export interface LoweredGraph {
  /** The serialised ModelProto, without the data below. */
  readonly bytes: Uint8Array;
  /** Constants in memory that are too large for the model, by their location in it. */
  readonly externalData: ReadonlyMap<string, Uint8Array>;
  /** The folder of the files with constants, if there are any. */
  readonly externalFolder: string | undefined;
  /** What each node computes; node names start with these keys. */
  readonly nodes: ReadonlyMap<string, NodeSummary>;
}

/** An op and its types, without references to the graph. */
interface NodeSummary {
  readonly op: string;
  readonly inputs: readonly TensorType[];
  readonly output: TensorType;
}

/** Larger constants are stored outside the model, because protocol buffers are limited to 2 GB. */
const INLINE_BYTES = 1024;

/** For whom a graph is lowered. */
export interface LowerOptions {
  /** The kernels that exist there; all of ONNX Runtime's on the CPU by default. */
  readonly target?: LoweringTarget;
  /** Resolves the links in a path; without it, constants cannot be in files. */
  readonly resolveFile?: ((file: string) => string) | undefined;
}

/** Writes a graph as an ONNX model. */
export function lower(
  graph: Graph,
  { target = 'cpu', resolveFile }: LowerOptions = {},
): LoweredGraph {
  const context = new LoweringContext(graph, target);
  const names = nameValues(graph);
  const tensors = new Map<Value, string>();
  const nodes = new Map<string, NodeSummary>();
  const constants = new ConstantStore(resolveFile);

  for (const value of topologicalOrder(Object.values(graph.outputs))) {
    const name = names.get(value) as string;
    nodes.set(name, summarize(value));
    if (value.op.name === 'input') tensors.set(value, name);
    else if (value.op.name === 'constant') tensors.set(value, constants.add(value));
    else tensors.set(value, lowerValue(context, { name, value, tensors }));
  }
  constants.resolveExternalData();
  const model: OnnxModel = {
    name: 'proximal',
    nodes: nameOutputs(graph, context.nodes, tensors),
    inputs: valueInfos(graph.inputs, (name) => name),
    outputs: valueInfos(graph.outputs, outputName),
    initializers: [...context.initializers, ...constants.tensors],
  };
  const { externalData, externalFolder } = constants;
  return { bytes: encodeModel(model), externalData, externalFolder, nodes };
}

/** Renames the returned tensors to their outputs' names; inputs, constants and repeated outputs are copied. */
function nameOutputs(
  graph: Graph,
  nodes: readonly OnnxNode[],
  tensors: ReadonlyMap<Value, string>,
): OnnxNode[] {
  const renamed = new Map<string, string>();
  const rename = (tensor: string) => renamed.get(tensor) ?? tensor;
  const copies: OnnxNode[] = [];
  for (const [name, value] of Object.entries(graph.outputs)) {
    const tensor = tensors.get(value) as string;
    const output = outputName(name);
    if (isSource(value) || renamed.has(tensor)) {
      copies.push({ name: output, opType: 'Identity', inputs: [tensor], outputs: [output] });
    } else {
      renamed.set(tensor, output);
    }
  }
  return [...nodes, ...copies].map((node) => ({
    ...node,
    inputs: node.inputs.map(rename),
    outputs: node.outputs.map(rename),
  }));
}

function summarize({ op, inputs, dtype, shape }: Value): NodeSummary {
  const types = inputs.map((input) => ({ dtype: input.dtype, shape: input.shape }));
  return { op: op.name, inputs: types, output: { dtype, shape } };
}

function isSource({ op }: Value): boolean {
  return op.name === 'input' || op.name === 'constant';
}

/** An output's name in the model: an input may have the same name in the graph. */
export function outputName(name: string): string {
  return `return ${name}`;
}

function lowerValue(
  context: LoweringContext,
  { name, value, tensors }: { name: string; value: Value; tensors: ReadonlyMap<Value, string> },
): string {
  context.begin(name, value);
  const rule = rules[value.op.name as LoweredOp] as (request: object) => string;
  const inputs = value.inputs.map((operand) => tensors.get(operand) as string);
  return rule({ context, inputs, attributes: value.attributes, value });
}

function valueInfos(values: Graph['inputs'], rename: (name: string) => string) {
  return Object.entries(values).map(([name, { dtype, shape }]) => ({
    name: rename(name),
    dtype,
    dims: shape,
  }));
}

/** Turns constants into initialisers: inline, in separate memory, or in a file. */
class ConstantStore {
  tensors: OnnxTensor[] = [];
  readonly externalData = new Map<string, Uint8Array>();
  externalFolder: string | undefined;
  private readonly resolveFile: LowerOptions['resolveFile'];

  constructor(resolveFile: LowerOptions['resolveFile']) {
    this.resolveFile = resolveFile;
  }

  add({ attributes, dtype, shape }: Value): string {
    const { data } = attributes as { data: ConstantData | FileSlice };
    const name = `constant ${this.tensors.length}`;
    this.tensors.push({ name, dtype, dims: shape as number[], data: this.place(name, data) });
    return name;
  }

  /** ONNX Runtime reads external data from memory or from files, not both: with files, constants in
   *  memory go into the model. */
  resolveExternalData(): void {
    if (this.externalFolder === undefined) return;
    this.tensors = this.tensors.map((tensor) => {
      const data = this.externalData.get(tensor.name) ?? tensor.data;
      return { ...tensor, data };
    });
    this.externalData.clear();
  }

  private place(name: string, data: ConstantData | FileSlice): OnnxTensor['data'] {
    if ('file' in data) return this.placeInFile(data);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (bytes.byteLength <= INLINE_BYTES) return bytes;
    this.externalData.set(name, bytes);
    return { location: name, offset: 0, length: bytes.byteLength };
  }

  /** ONNX Runtime reads files of one folder only and rejects links that leave it, so links are resolved. */
  private placeInFile({ file, offset, length }: FileSlice): OnnxTensor['data'] {
    if (this.resolveFile === undefined) {
      throw new Error(
        `Cannot lower the graph: this device reads no files, got a constant in ${file}`,
      );
    }
    const path = this.resolveFile(file);
    const end = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
    const folder = path.slice(0, end) || '/';
    this.externalFolder ??= folder;
    if (folder !== this.externalFolder) {
      throw new Error(
        `Cannot lower the graph: constants must be in files of one folder, got ${this.externalFolder} and ${folder}`,
      );
    }
    return { location: path.slice(end + 1), offset, length };
  }
}

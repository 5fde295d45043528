import { Tensor as OrtTensor } from 'onnxruntime-node';
import { formatShape } from '../graph/dim.ts';
import { type Graph, makeGraph, topologicalOrder } from '../graph/graph.ts';
import { nameValues } from '../graph/print.ts';
import { formatType, type Value } from '../graph/value.ts';
import { type LoweredGraph, lower, outputName } from '../onnx/lower.ts';
import { type Bindings, bindFeeds, type Feeds, resolveShape } from './feeds.ts';
import { leaseSession, type SessionLease, type SessionOptions } from './session.ts';
import { type HostDType, type Tensor, tensor } from './tensor.ts';

export interface CompileOptions extends SessionOptions {
  /** Debugging: looks at every value of a run and names the first op that made a NaN. */
  readonly checkNumerics?: boolean;
}

export type Outputs = Record<string, Tensor>;

/** A graph ready to run. Feeds are used where they lie; outputs are fresh arrays. */
export class CompiledGraph {
  readonly graph: Graph;
  private readonly lease: SessionLease;
  private readonly lowered: LoweredGraph;
  private disposed = false;

  constructor(graph: Graph, parts: { lease: SessionLease; lowered: LoweredGraph }) {
    this.graph = graph;
    this.lease = parts.lease;
    this.lowered = parts.lowered;
  }

  async run(feeds: Feeds): Promise<Outputs> {
    if (this.disposed) throw new Error('Cannot run the graph: it was disposed');
    const bindings = bindFeeds(this.graph, feeds);
    const ortFeeds: Record<string, OrtTensor> = {};
    for (const name of Object.keys(this.graph.inputs))
      ortFeeds[name] = toOrt(feeds[name] as Tensor);
    const results = await this.lease.session.run(ortFeeds).catch((error: Error) => {
      throw this.explain(error, bindings);
    });
    const outputs: Outputs = {};
    for (const name of Object.keys(this.graph.outputs)) {
      outputs[name] = fromOrt(results[outputName(name)] as OrtTensor);
    }
    return outputs;
  }

  /** Frees the session unless another graph of the same structure uses it. */
  async dispose(): Promise<void> {
    if (this.disposed) return;
    this.disposed = true;
    await this.lease.release();
  }

  /** ONNX Runtime names its node, which we named after our value: says which op it is, on what. */
  private explain(error: Error, bindings: Bindings): Error {
    const [name = ''] = /%\d+(?= \w+)/.exec(error.message) ?? [];
    const value = this.lowered.values.get(name);
    if (value === undefined) return error;
    const type = ({ dtype, shape }: Value) =>
      `${dtype}${formatShape(resolveShape(shape, bindings))}`;
    return new Error(
      `Cannot run ${value.op.name}(${value.inputs.map(type).join(', ')}) → ${type(value)}: ${error.message}`,
      { cause: error },
    );
  }
}

/** Compiles a graph for a device. Graphs of equal structure share one session. */
export async function compile(graph: Graph, options: CompileOptions = {}): Promise<CompiledGraph> {
  const { checkNumerics = false, ...sessionOptions } = options;
  if (checkNumerics) return compileChecked(graph, sessionOptions);
  const lowered = lower(graph);
  return new CompiledGraph(graph, { lease: await leaseSession(lowered, sessionOptions), lowered });
}

async function compileChecked(graph: Graph, options: SessionOptions): Promise<CompiledGraph> {
  const names = nameValues(graph);
  const watched = topologicalOrder(Object.values(graph.outputs)).filter(
    ({ op, dtype }) => dtype === 'float32' && op.name !== 'constant' && op.name !== 'input',
  );
  const everything = makeGraph({
    ...graph.outputs,
    ...Object.fromEntries(watched.map((value) => [names.get(value) as string, value])),
  });
  const lowered = lower(everything);
  return new CheckedGraph(everything, {
    lease: await leaseSession(lowered, options),
    lowered,
    watch: { names, watched, outputs: Object.keys(graph.outputs) },
  });
}

interface Watch {
  readonly names: ReadonlyMap<Value, string>;
  readonly watched: readonly Value[];
  readonly outputs: readonly string[];
}

/** Runs with every value as an output and looks for the first NaN. */
class CheckedGraph extends CompiledGraph {
  private readonly watch: Watch;

  constructor(graph: Graph, parts: { lease: SessionLease; lowered: LoweredGraph; watch: Watch }) {
    super(graph, parts);
    this.watch = parts.watch;
  }

  override async run(feeds: Feeds): Promise<Outputs> {
    const everything = await super.run(feeds);
    for (const value of this.watch.watched) {
      const name = this.watch.names.get(value) as string;
      const { data, shape } = everything[name] as Tensor<'float32'>;
      if (data.some(Number.isNaN)) {
        const operands = value.inputs.map(
          (operand) => `${this.watch.names.get(operand)}: ${formatType(operand)}`,
        );
        throw new Error(
          `Found NaN: ${name} = ${value.op.name}(${operands.join(', ')}) made the first one, in an output of shape ${formatShape(shape)}`,
        );
      }
    }
    return Object.fromEntries(this.watch.outputs.map((name) => [name, everything[name] as Tensor]));
  }
}

function toOrt({ dtype, data, shape }: Tensor): OrtTensor {
  return new OrtTensor(dtype, data as Float32Array, shape);
}

function fromOrt({ data, dims }: OrtTensor): Tensor {
  return tensor(data as Float32Array, dims) as Tensor<HostDType>;
}

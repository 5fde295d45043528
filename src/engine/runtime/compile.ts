import { formatShape } from '../graph/dim.ts';
import type { Graph } from '../graph/graph.ts';
import { sliceGathers } from '../graph/slice-gathers.ts';
import type { TensorType } from '../graph/value.ts';
import { type LoweredGraph, lower, outputName } from '../onnx/lower.ts';
import type { Backend, Device } from './backend.ts';
import { expectNoNaN, type Watch, watchAllValues } from './check-numerics.ts';
import { backendOf } from './devices.ts';
import { type Bindings, bindFeeds, type Feeds, resolveShape } from './feeds.ts';
import { countFlops, isObserved, reportRun } from './observe-runs.ts';
import { leaseSession, type SessionLease } from './session.ts';
import type { Tensor } from './tensor.ts';
import { threadCount } from './thread-count.ts';

/** How a graph is compiled and whether its values are checked. */
export interface CompileOptions {
  /** Where it runs; `cpu` by default. */
  readonly device?: Device | Backend;
  /** Threads inside one op; `threadCount()` by default. */
  readonly threads?: number;
  /** Keep the memory of a run for the next one, which is faster for large values, instead of freeing it;
   *  false by default. */
  readonly arena?: boolean;
  /** Outputs that stay in the memory of a device with its own, to be fed to other graphs there: nothing by
   *  default. */
  readonly keep?: readonly string[] | ((output: string) => boolean);
  /** For debugging: check every value of a run and name the first op that produced a NaN. */
  readonly checkNumerics?: boolean;
}

/** Output tensors of a run, by name. */
export type Outputs = Record<string, Tensor>;

export interface CompiledParts {
  readonly nodes: LoweredGraph['nodes'];
  readonly lease: SessionLease;
}

/** A graph that is ready to run. Feeds are not copied; outputs are new arrays. */
export class CompiledGraph {
  readonly inputs: Readonly<Record<string, TensorType>>;
  private readonly outputs: readonly string[];
  private readonly nodes: LoweredGraph['nodes'];
  private readonly lease: SessionLease;
  private readonly running = new Set<Promise<unknown>>();
  private disposed = false;

  /** Keeps only types and names of the graph; constants are only in the session. */
  constructor({ inputs, outputs }: Graph, { nodes, lease }: CompiledParts) {
    this.inputs = Object.fromEntries(
      Object.entries(inputs).map(([name, { dtype, shape }]) => [name, { dtype, shape }]),
    );
    this.outputs = Object.keys(outputs);
    this.nodes = nodes;
    this.lease = lease;
  }

  /** Computes the outputs for these feeds; throws if the graph was disposed. */
  async run(feeds: Feeds): Promise<Outputs> {
    if (this.disposed) throw new Error('Cannot run the graph: it was disposed');
    const bindings = bindFeeds(this, feeds);
    const start = performance.now();
    const running = this.lease.session.run(feeds);
    this.running.add(running);
    const results = await running
      .catch((error: Error) => {
        throw this.explain(error, bindings);
      })
      .finally(() => this.running.delete(running));
    if (isObserved()) {
      const seconds = (performance.now() - start) / 1000;
      reportRun({ seconds, flops: countFlops(this.nodes, bindings) });
    }
    const outputs: Outputs = {};
    for (const name of this.outputs) {
      outputs[name] = results[outputName(name)] as Tensor;
    }
    return outputs;
  }

  /** Waits for current runs, then frees the session unless another graph of equal structure uses it. */
  async dispose(): Promise<void> {
    if (this.disposed) return;
    this.disposed = true;
    await Promise.allSettled(this.running);
    await this.lease.release();
  }

  /** ONNX Runtime reports the node, which is named after our value: adds the op and its types. */
  private explain(error: Error, bindings: Bindings): Error {
    const [name = ''] = /%\d+(?= \w+)/.exec(error.message) ?? [];
    const node = this.nodes.get(name);
    if (node === undefined) return error;
    const type = ({ dtype, shape }: TensorType) =>
      `${dtype}${formatShape(resolveShape(shape, bindings))}`;
    return new Error(
      `Cannot run ${node.op}(${node.inputs.map(type).join(', ')}) → ${type(node.output)}: ${error.message}`,
      { cause: error },
    );
  }
}

/** Compiles a graph for a device. Graphs of equal structure share one session. */
export async function compile(graph: Graph, options: CompileOptions = {}): Promise<CompiledGraph> {
  const { device = 'cpu', threads = threadCount(), arena = false } = options;
  const backend = backendOf(device);
  const watch = options.checkNumerics ? watchAllValues(graph) : undefined;
  const watched = watch?.graph ?? sliceGathers(graph);
  const { resolveFile } = await backend.open();
  const lowered = lower(watched, { target: backend.target, resolveFile });
  const { nodes } = lowered;
  const keep = backend.keepsTensors && !watch ? keptOutputs(watched, options.keep) : [];
  const lease = await leaseSession(lowered, { backend, threads, arena, keep });
  const parts = { nodes, lease };
  return watch ? new CheckedGraph(watched, { ...parts, watch }) : new CompiledGraph(watched, parts);
}

/** Runs with every value as an output and checks for the first NaN. */
class CheckedGraph extends CompiledGraph {
  private readonly watch: Watch;

  constructor(graph: Graph, { watch, ...parts }: CompiledParts & { readonly watch: Watch }) {
    super(graph, parts);
    this.watch = watch;
  }

  override async run(feeds: Feeds): Promise<Outputs> {
    const everything = await super.run(feeds);
    expectNoNaN(this.watch, feeds, everything);
    return Object.fromEntries(this.watch.outputs.map((name) => [name, everything[name] as Tensor]));
  }
}

/** The model's names of the outputs that stay on the device. */
function keptOutputs({ outputs }: Graph, keep: CompileOptions['keep'] = []): string[] {
  const isKept = typeof keep === 'function' ? keep : (name: string) => keep.includes(name);
  return Object.keys(outputs).filter(isKept).map(outputName);
}

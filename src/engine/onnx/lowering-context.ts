import { type Dim, termsOf } from '../graph/dim.ts';
import type { Graph } from '../graph/graph.ts';
import type { Value } from '../graph/value.ts';
import type { OnnxAttribute, OnnxNode, OnnxTensor } from './model-proto.ts';

interface NodeOptions {
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  readonly domain?: string;
  /** The index of the output to use, for nodes with several. */
  readonly output?: number;
}

const arrayFrom = {
  float32: (values: readonly number[]) => Float32Array.from(values),
  int64: (values: readonly number[]) => BigInt64Array.from(values, BigInt),
  uint8: (values: readonly number[]) => Uint8Array.from(values),
  int8: (values: readonly number[]) => Int8Array.from(values),
} as const;

type ScalarDType = keyof typeof arrayFrom;

/** The kernels that lowered nodes may use: those of ONNX Runtime on a CPU, or those of its WebGPU provider. */
export type LoweringTarget = 'cpu' | 'webgpu';

/** Collects ONNX nodes and initialisers while a graph is lowered, one value at a time. */
export class LoweringContext {
  readonly nodes: OnnxNode[] = [];
  readonly initializers: OnnxTensor[] = [];
  private readonly cache = new Map<string, string>();
  private readonly reused = new Map<string, string>();
  private current = '';
  private parts = 0;
  readonly target: LoweringTarget;
  private readonly graph: Graph;

  constructor(graph: Graph, target: LoweringTarget) {
    this.graph = graph;
    this.target = target;
  }

  /** Names the next nodes after the value that they compute, so errors can refer to it. */
  begin(valueName: string, value: Value): void {
    this.current = `${valueName} ${value.op.name}`;
    this.parts = 0;
  }

  /** Adds a node and returns its output's name. */
  node(opType: string, inputs: readonly string[], options: NodeOptions = {}): string {
    const part = this.parts++;
    const name = part === 0 ? this.current : `${this.current} .${part}`;
    const index = options.output ?? 0;
    const outputs = Array.from({ length: index + 1 }, (_, i) =>
      // ONNX Runtime requires a name for an unused output, unless it is optional.
      i === index ? name : `${name} unused ${i}`,
    );
    this.nodes.push({
      name,
      opType,
      inputs,
      outputs,
      ...(options.attributes && { attributes: options.attributes }),
      ...(options.domain && { domain: options.domain }),
    });
    return name;
  }

  /** A tensor that several values need, created on first use. */
  reuse(key: string, create: () => string): string {
    const name = this.reused.get(key) ?? create();
    this.reused.set(key, name);
    return name;
  }

  /** The outputs of a node that exists once per graph for the same inputs. */
  sharedNode(
    opType: string,
    inputs: readonly string[],
    { attributes, outputs: count }: Pick<NodeOptions, 'attributes'> & { readonly outputs: number },
  ): readonly string[] {
    const values = Object.entries(attributes ?? {}).flat();
    const key = [opType, ...inputs, ...values].join(' ');
    const outputs = Array.from({ length: count }, (_, i) => `#${key} ${i}`);
    this.shared(key, () => {
      const name = `${this.current} ${opType}`;
      this.nodes.push({ name, opType, inputs, outputs, ...(attributes && { attributes }) });
    });
    return outputs;
  }

  scalar(value: number, dtype: ScalarDType = 'float32'): string {
    return this.shared(`${dtype} ${value}`, (name) =>
      this.tensor(name, [value], { dtype, dims: [] }),
    );
  }

  vector(values: readonly number[]): string {
    return this.shared(`vector ${values}`, (name) =>
      this.tensor(name, values, { dtype: 'float32', dims: [values.length] }),
    );
  }

  /** An int64 vector of sizes; symbolic ones are read from the inputs' shapes at run time. */
  sizes(dims: readonly Dim[]): string {
    if (dims.every((dim) => typeof dim === 'number')) return this.integers(dims);
    return this.shared(`sizes ${dims}`, (name) => {
      const parts = dims.map((dim) => this.size(dim));
      this.nodes.push({
        name,
        opType: 'Concat',
        inputs: parts,
        outputs: [name],
        attributes: { axis: 0n },
      });
    });
  }

  integers(values: readonly number[]): string {
    return this.shared(`integers ${values}`, (name) =>
      this.tensor(name, values, { dtype: 'int64', dims: [values.length] }),
    );
  }

  private tensor(
    name: string,
    values: readonly number[],
    { dtype, dims }: { dtype: ScalarDType; dims: readonly number[] },
  ): void {
    const data = arrayFrom[dtype](values);
    this.initializers.push({ name, dtype, dims, data: new Uint8Array(data.buffer) });
  }

  private size(dim: Dim): string {
    if (typeof dim === 'number') return this.integers([dim]);
    const terms = termsOf(dim).map(({ coefficient, symbols }) => {
      const factors = symbols.map((symbol) => this.symbol(symbol));
      if (coefficient !== 1 || factors.length === 0) factors.push(this.integers([coefficient]));
      return factors.reduce((a, b) => this.combine('Mul', a, b));
    });
    return terms.reduce((a, b) => this.combine('Add', a, b));
  }

  private symbol(symbol: string): string {
    for (const [name, value] of Object.entries(this.graph.inputs)) {
      const axis = value.shape.indexOf(symbol);
      if (axis >= 0) {
        return this.shared(`size ${symbol}`, (output) => {
          const attributes = { start: BigInt(axis), end: BigInt(axis + 1) };
          this.nodes.push({
            name: output,
            opType: 'Shape',
            inputs: [name],
            outputs: [output],
            attributes,
          });
        });
      }
    }
    throw new Error(
      `Cannot lower the graph: no input has an axis of size ${symbol}, so it is unknown at run time`,
    );
  }

  private combine(opType: 'Add' | 'Mul', a: string, b: string): string {
    return this.shared(`${opType} ${a} ${b}`, (name) => {
      this.nodes.push({ name, opType, inputs: [a, b], outputs: [name] });
    });
  }

  private shared(key: string, make: (name: string) => void): string {
    const name = `#${key}`;
    if (!this.cache.has(key)) {
      this.cache.set(key, name);
      make(name);
    }
    return name;
  }
}

import {
  add,
  concat,
  type Graph,
  gatherRows,
  input,
  makeGraph,
  mul,
  scatterAddRows,
  type Value,
} from '../../engine/graph/index.ts';
import {
  type Backend,
  type CompiledGraph,
  type CompileOptions,
  freeTensors,
  isOnHost,
  type Tensor,
  tensor,
} from '../../engine/runtime/index.ts';
import { concatRows, mulElements, scatterRows, sliceRows, takeRows } from './rows.ts';

type Matrix = Tensor<'float32'>;
type Values = Readonly<Record<string, Value>>;

/** A model whose tensors may be in the memory of a device. */
export interface RowOwner {
  readonly backend: Backend;
  compile(key: string, build: () => Graph, options?: CompileOptions): Promise<CompiledGraph>;
}

/** `rows.ts` for tensors [M, …] in host memory or on the device of a model; results are where x is. */
export class DeviceRows {
  private readonly owner: RowOwner;

  constructor(owner: RowOwner) {
    this.owner = owner;
  }

  /** Copies some rows. */
  async take(x: Matrix, rows: ArrayLike<number>): Promise<Matrix> {
    if (isOnHost(x)) return takeRows(x, rows);
    const index = tensor(Int32Array.from(rows), [rows.length]);
    const build = (values: Values) => gatherRows(values.x!, values.index!);
    return this.run('take', { x, index }, { build });
  }

  /** The gradient of `take`, with as many rows as `like` has. */
  async scatter(part: Matrix, rows: Int32Array, { shape }: Matrix): Promise<Matrix> {
    const count = shape[0]!;
    if (isOnHost(part)) return scatterRows(part, rows, count);
    const feeds = { x: part, rows: tensor(rows, [rows.length]) };
    // An input with as many rows as the result says how many these are.
    const zeros = tensor(new Float32Array(count), [count, 1]);
    const build = (values: Values) =>
      add(scatterAddRows(values.x!, values.rows!, 'M'), values.zeros!);
    const symbol = (key: string) => (key === 'zeros' ? 'M' : 'N');
    return this.run('scatter', { ...feeds, zeros }, { build, rows: symbol });
  }

  /** Consecutive rows: a view in host memory, a copy on a device. */
  async slice(x: Matrix, rows: { readonly start: number; readonly end: number }): Promise<Matrix> {
    if (isOnHost(x)) return sliceRows(x, rows);
    return this.take(
      x,
      Array.from({ length: rows.end - rows.start }, (_, i) => rows.start + i),
    );
  }

  /** Concatenates tensors along their rows; a single one is returned unchanged.
   *  @param into host memory for the result, used if it is large enough */
  async concat(parts: readonly Matrix[], into?: Float32Array): Promise<Matrix> {
    if (parts.length === 1) return parts[0]!;
    if (parts.every(isOnHost)) return concatRows(parts, into);
    const named = Object.fromEntries(parts.map((part, i) => [`x${i}`, part]));
    return this.run('concat', named, { build: (values) => concat(Object.values(values), 0) });
  }

  /** x · mask, element by element; x itself without a mask. */
  async mul(x: Matrix, mask: Matrix | undefined): Promise<Matrix> {
    if (mask === undefined || (isOnHost(x) && isOnHost(mask))) return mulElements(x, mask);
    return this.combine('mul', { x, mask }, (values) => mul(values.x!, values.mask!));
  }

  /** Σ or another function of tensors with the same number of rows; the result stays on the device. */
  combine(
    name: string,
    feeds: Readonly<Record<string, Tensor>>,
    build: (values: Values) => Value,
  ): Promise<Matrix> {
    return this.run(name, feeds, { build, rows: () => 'M' });
  }

  private async run(
    name: string,
    feeds: Readonly<Record<string, Tensor>>,
    { build, rows = (key) => key }: RowGraph,
  ): Promise<Matrix> {
    const types = Object.entries(feeds).map(([key, { shape, dtype }]) => ({
      key,
      dtype,
      shape: [rows(key), ...shape.slice(1)],
    }));
    const compiled = await this.owner.compile(
      `rows ${name} ${JSON.stringify(types)}`,
      () => {
        const values = types.map(({ key, shape, dtype }) => [key, input(key, shape, dtype)]);
        return makeGraph({ y: build(Object.fromEntries(values)) });
      },
      { keep: ['y'] },
    );
    const { y } = await compiled.run(feeds);
    return y as Matrix;
  }
}

interface RowGraph {
  readonly build: (values: Values) => Value;
  /** The symbol of an input's number of rows; its name by default. */
  readonly rows?: (input: string) => string;
}

/** Frees every tensor of some feeds that is on a device. */
export function freeFeeds(...feeds: readonly Readonly<Record<string, Tensor>>[]): void {
  for (const one of feeds) freeTensors(...Object.values(one));
}

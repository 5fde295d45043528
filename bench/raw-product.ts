import { input, linear, makeGraph, slice } from '../src/engine/graph/index.ts';
import { compile, type Outputs, type Tensor, tensor } from '../src/engine/runtime/index.ts';
import { median, timeAlternately } from './measure.ts';

/** Sizes of a product x·Wᵀ: x is [rows, inner], W is [out, inner]. */
export interface ProductSizes {
  readonly rows: number;
  readonly inner: number;
  readonly out: number;
}

/** A single matrix product, as a measure of the machine. */
export interface RawProduct {
  readonly flops: number;
  /** One `run` whose result is returned to JavaScript. */
  returned(): Promise<Outputs>;
  /** The same, but the result stays inside the runtime: the kernel's own speed. */
  internal(): Promise<Outputs>;
  dispose(): Promise<void>;
}

export async function rawProduct({ rows, inner, out }: ProductSizes): Promise<RawProduct> {
  const y = linear(input('x', ['M', inner]), input('w', [out, inner]));
  const corner = slice(slice(y, { axis: 0, end: 1 }), { axis: 1, end: 1 });
  const returned = await compile(makeGraph({ y }));
  const internal = await compile(makeGraph({ corner }), { arena: true });
  const feeds = { x: randomTensor([rows, inner]), w: randomTensor([out, inner]) };
  return {
    flops: 2 * rows * inner * out,
    returned: () => returned.run(feeds),
    internal: () => internal.run(feeds),
    async dispose() {
      await returned.dispose();
      await internal.dispose();
    },
  };
}

/** GFLOPS of the largest product of a Qwen3-0.6B layer over 256 tokens, with the result kept inside the runtime. */
export async function rawSpeed(): Promise<number> {
  const product = await rawProduct({ rows: 256, inner: 1024, out: 3072 });
  const { internal } = await timeAlternately(
    { internal: product.internal },
    { rounds: 30, warmup: 5 },
  );
  await product.dispose();
  return product.flops / median(internal) / 1e6;
}

export function randomTensor(shape: readonly number[]): Tensor<'float32'> {
  const size = shape.reduce((product, dim) => product * dim, 1);
  const data = Float32Array.from({ length: size }, () => (Math.random() - 0.5) * 0.1);
  return tensor(data, shape);
}

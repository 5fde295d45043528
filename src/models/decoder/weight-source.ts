import { input, linear, matmul, type Shape, type Value } from '../../engine/graph/index.ts';

/** Where a graph takes a frozen weight from, by its Hugging Face name. */
export type WeightGetter = (name: string, shape: Shape) => Value;

export interface ProductOptions {
  readonly out: number;
  readonly transposed?: boolean;
}

/** Where the decode graph takes frozen weights from: fed at run time, or constants of the graph. */
export interface WeightSource {
  readonly weight: WeightGetter;
  /** x·Wᵀ for a weight [out, in], or x·W for one [in, out]; a quantised source computes it its own way. */
  product(x: Value, name: string, options: ProductOptions): Value;
}

/** Weights fed under their Hugging Face names. */
export function fedWeights(): WeightSource {
  const weight = remember((name, shape) => input(name, shape));
  return { weight, product: productWith(weight) };
}

/** Products with whole weights, wherever they come from. */
export function productWith(weight: WeightGetter): WeightSource['product'] {
  return (x, name, { out, transposed = false }) => {
    const inner = x.shape.at(-1) as number;
    return transposed
      ? matmul(x, weight(name, [inner, out]))
      : linear(x, weight(name, [out, inner]));
  };
}

/** Makes each value once: a graph may hold an input or a large constant only one time. */
export function remember(make: WeightGetter): WeightGetter {
  const made = new Map<string, Value>();
  return (name, shape) => {
    const value = made.get(name) ?? make(name, shape);
    made.set(name, value);
    return value;
  };
}

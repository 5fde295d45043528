import { type Feeds, type GraphInputs, type Tensor, tensor } from '../engine/runtime/index.ts';

/** Some rows of a tensor [M, …]; nothing is copied. */
export function rowsOf(
  { data, shape }: Tensor<'float32'>,
  { start, end }: { readonly start: number; readonly end: number },
): Tensor<'float32'> {
  const width = data.length / shape[0]!;
  return tensor(data.subarray(start * width, end * width), [end - start, ...shape.slice(1)]);
}

/** Tensors of equal width one below another; a single one is given as it is.
 *  @param into where the rows are put, if there is room */
export function joinRows(
  parts: readonly Tensor<'float32'>[],
  into?: Float32Array,
): Tensor<'float32'> {
  if (parts.length === 1) return parts[0]!;
  const size = parts.reduce((sum, { data }) => sum + data.length, 0);
  const room = into !== undefined && into.length >= size ? into.subarray(0, size) : undefined;
  const joined = room ?? new Float32Array(size);
  let start = 0;
  for (const { data } of parts) {
    joined.set(data, start);
    start += data.length;
  }
  const rows = parts.reduce((sum, { shape }) => sum + shape[0]!, 0);
  return tensor(joined, [rows, ...parts[0]!.shape.slice(1)]);
}

/** Joins what several passes left of a layer, in the same memory for every layer. */
export class PartJoiner {
  private readonly memory = new Map<string, Float32Array>();

  /** Those of the parts' values that a graph takes; they hold until the next call. */
  join(parts: readonly Feeds[], { inputs }: GraphInputs): Feeds {
    if (parts.length === 1) return parts[0]!;
    const names = Object.keys(parts[0]!).filter((name) => inputs[name] !== undefined);
    const joined = names.map((name) => {
      const values = parts.map((part) => part[name] as Tensor<'float32'>);
      const all = joinRows(values, this.memory.get(name));
      this.memory.set(name, all.data);
      return [name, all];
    });
    return Object.fromEntries(joined);
  }
}

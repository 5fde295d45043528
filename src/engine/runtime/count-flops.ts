import type { LoweredGraph } from '../onnx/lower.ts';
import { type Bindings, resolveShape } from './feeds.ts';

const products = new Set(['matmul', 'byteMatmul']);

/**
 * Floating-point operations of a graph's products at given sizes: 2·m·k·n for [m, k]·[k, n], times
 * the batch. What is done element by element is left out.
 * @example [2, 3]·[3, 4]  →  2·2·3·4 = 48
 */
export function countFlops(nodes: LoweredGraph['nodes'], bindings: Bindings): number {
  let flops = 0;
  for (const { op, inputs, output } of nodes.values()) {
    if (!products.has(op)) continue;
    const [a = 1, b = 1] = resolveShape(inputs[0]!.shape, bindings).slice(-2);
    const result = resolveShape(output.shape, bindings);
    const [rows = 1] = result.slice(-2);
    // The left side is [m, k] or, transposed, [k, m].
    const inner = (a * b) / rows;
    flops += 2 * inner * result.reduce((size, dim) => size * dim, 1);
  }
  return flops;
}

import type { LoweredGraph } from '../onnx/lower.ts';
import { type Bindings, resolveShape } from './feeds.ts';

/** One run of a compiled graph. */
export interface RunRecord {
  /** Seconds in ONNX Runtime, including feeds and outputs. */
  readonly seconds: number;
  /** Operations of the graph's products at the sizes of the run. */
  readonly flops: number;
}

type RunListener = (record: RunRecord) => void;

const listeners = new Set<RunListener>();

/** Whether there is a listener. */
export function isObserved(): boolean {
  return listeners.size > 0;
}

export function reportRun(record: RunRecord): void {
  for (const listener of listeners) listener(record);
}

/** Calls a listener after every run of every graph; returns a function that removes it.
 *  @example
 *  const stop = observeRuns(({ flops }) => { sum += flops; }); */
export function observeRuns(listener: RunListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const products = new Set(['matmul', 'adaptedLinear', 'byteProduct']);

/** Floating-point operations of a graph's products at given sizes: 2·m·k·n for [m, k]·[k, n], times the
 *  batch. Elementwise operations are not counted.
 *  @example [2, 3]·[3, 4]  →  2·2·3·4 = 48 */
export function countFlops(nodes: LoweredGraph['nodes'], bindings: Bindings): number {
  let flops = 0;
  for (const { op, inputs, output } of nodes.values()) {
    if (!products.has(op)) continue;
    const [a = 1, b = 1] = resolveShape(inputs[0]!.shape, bindings).slice(-2);
    const result = resolveShape(output.shape, bindings);
    const [rows = 1] = result.slice(-2);
    // The left operand is [m, k] or, transposed, [k, m].
    const inner = (a * b) / rows;
    flops += 2 * inner * result.reduce((size, dim) => size * dim, 1);
  }
  return flops;
}

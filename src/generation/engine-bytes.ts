import { decodeGraph } from '../models/decoder/decode-graph.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import { fedWeights } from '../models/decoder/weight-source.ts';
import type { RolloutPrecision } from './decode-weights.ts';

/** Bytes of weights that the decode graph holds beside the base, at each precision. */
export function engineBytes(
  architecture: Architecture,
): Readonly<Record<RolloutPrecision, number>> {
  const sizes = new Map<string, { f32: number; int8: number }>();
  const fed = fedWeights();
  decodeGraph(architecture, {
    source: {
      weight(name, shape) {
        const f32 = 4 * (shape as readonly number[]).reduce((product, dim) => product * dim, 1);
        sizes.set(name, { f32, int8: f32 });
        return fed.weight(name, shape);
      },
      product(x, name, options) {
        const { out } = options;
        const inner = x.shape.at(-1) as number;
        // A byte for each weight and a float32 scale for each output.
        sizes.set(name, { f32: 4 * out * inner, int8: out * (inner + 4) });
        return fed.product(x, name, options);
      },
    },
  });
  const total = (precision: 'f32' | 'int8') =>
    [...sizes.values()].reduce((sum, size) => sum + size[precision], 0);
  return { f32: total('f32'), 'f32-feeds': 0, int8: total('int8') };
}

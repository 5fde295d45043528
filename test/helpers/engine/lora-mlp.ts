import { linear } from '../../../src/engine/graph/functions.ts';
import { type Graph, makeGraph } from '../../../src/engine/graph/graph.ts';
import { add, mul } from '../../../src/engine/graph/ops/elementwise.ts';
import { rmsNorm, silu } from '../../../src/engine/graph/ops/fused.ts';
import { input } from '../../../src/engine/graph/ops/source.ts';
import { loraLinear } from './call-function.ts';

/** The inputs that are trained, and the rows themselves: a block below wants their gradient. */
export const LORA_MLP_WRT = ['x', 'up.a', 'up.b', 'down.a', 'down.b'];

/** y = x + down(silu(gate(n)) · up(n)) with n = norm(x), rows of 4 widened to 6, adapters of rank 2. */
export function makeLoraMlp(): Graph {
  const x = input('x', ['M', 4]);
  const n = rmsNorm(x, input('norm', [4]), 1e-6);
  const lora = (name: string, from: number, to: number) => ({
    a: input(`${name}.a`, [2, from]),
    b: input(`${name}.b`, [to, 2]),
    scaling: 0.5,
  });
  const gate = linear(n, input('gate', [6, 4]));
  const up = loraLinear(n, input('up', [6, 4]), lora('up', 4, 6));
  const h = mul(silu(gate), up);
  return makeGraph({ y: add(x, loraLinear(h, input('down', [4, 6]), lora('down', 6, 4))) });
}

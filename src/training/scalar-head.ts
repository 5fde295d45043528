import { grad, gradientName } from '../engine/graph/index.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { scalarGraph } from '../models/decoder/head-graph.ts';
import type { BaseModel } from '../models/index.ts';

/** Gradients of a scalar head from ∂L/∂score of each row. */
export async function scalarHeadGradients(
  base: BaseModel,
  { hidden, head }: { hidden: Tensor<'float32'>; head: Tensor<'float32'> },
  dScores: Float32Array,
): Promise<{ dHidden: Tensor<'float32'>; dHead: Float32Array }> {
  const graph = await base.compile('scalar gradients', () => {
    const forward = scalarGraph(base.architecture);
    return grad(forward, { of: ['score'], wrt: ['x', 'score.weight'], save: 'none' }).backward;
  });
  const outputs = await graph.run(
    base.headFeeds(graph, {
      x: hidden,
      'score.weight': head,
      [gradientName('score')]: tensor(dScores, [dScores.length]),
    }),
  );
  return {
    dHidden: outputs[gradientName('x')] as Tensor<'float32'>,
    dHead: outputs[gradientName('score.weight')]!.data as Float32Array,
  };
}

import { scoreBiasName, scoreWeightName } from '../base-setup/lora/peft-config.ts';
import { grad, gradientName, type SaveList } from '../engine/graph/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { scalarGraph } from '../models/decoder/head-graph.ts';
import { scatterRows, takeRows } from '../models/decoder/rows.ts';
import {
  backward,
  forwardFromTrunk,
  type PackedBatch,
  type Pass,
  type ScalarModel,
  type TrunkOptions,
} from '../models/index.ts';

export interface ScalarPassOptions extends TrunkOptions {
  /** The rows of the batch that count. */
  readonly rows: Int32Array;
  /** What the layers save for the backward pass. */
  readonly save: SaveList;
  /** The source of dropout masks; nothing is dropped without it. */
  readonly dropout?: RandomStream | undefined;
}

/** A forward pass of a value or reward model that `scalarGradients` can complete. */
export interface ScalarPass {
  readonly model: ScalarModel;
  readonly pass: Pass;
  readonly rows: Int32Array;
  /** Hidden states of the rows that count. */
  readonly hidden: Tensor<'float32'>;
  /** The head's number at each of these rows. */
  readonly scores: Float32Array;
}

/** Runs a model with a scalar head over a batch. */
export async function runScalar(
  model: ScalarModel,
  batch: PackedBatch,
  { rows, ...options }: ScalarPassOptions,
): Promise<ScalarPass> {
  const pass = await forwardFromTrunk(model, batch, options);
  const hidden = takeRows(pass.hidden, rows);
  return { model, pass, rows, hidden, scores: await model.scores(hidden) };
}

/** Computes the gradients of head and adapter from ∂L/∂score. Consumes the pass. */
export async function scalarGradients(
  { model, pass, rows, hidden }: ScalarPass,
  dScores: Float32Array,
  accumulate: (gradients: NamedArrays) => void,
): Promise<void> {
  const { base, head } = model;
  const graph = await base.compile('scalar gradients', () => {
    const scores = scalarGraph(base.architecture);
    return grad(scores, { of: ['score'], wrt: ['x', scoreWeightName], save: 'none' }).backward;
  });
  const outputs = await graph.run(
    base.headFeeds(graph, {
      x: hidden,
      [scoreWeightName]: head,
      [gradientName('score')]: tensor(dScores, [dScores.length]),
    }),
  );
  accumulate({
    [scoreWeightName]: outputs[gradientName(scoreWeightName)]!.data as Float32Array,
    ...(model.bias && { [scoreBiasName]: Float32Array.of(sumOf(dScores)) }),
  });
  const dRows = outputs[gradientName('x')] as Tensor<'float32'>;
  await backward(pass, scatterRows(dRows, rows, pass.hidden.shape[0]!), accumulate);
}

function sumOf(numbers: Float32Array): number {
  return numbers.reduce((sum, x) => sum + x, 0);
}

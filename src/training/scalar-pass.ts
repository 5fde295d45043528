import { scoreBiasName, scoreWeightName } from '../base-setup/lora/peft-config.ts';
import {
  add,
  detach,
  grad,
  gradientName,
  greater,
  input,
  less,
  mul,
  type SaveList,
  sub,
  sum,
  type Value,
  where,
} from '../engine/graph/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import { type Tensor, tensor } from '../engine/runtime/index.ts';
import { scalarGraph, scalarOf } from '../models/decoder/head-graph.ts';
import { runJointPass } from '../models/decoder/joint-pass.ts';
import { scatterRows, takeRows } from '../models/decoder/rows.ts';
import {
  type Architecture,
  backward,
  forwardFromTrunk,
  type PackedBatch,
  type Pass,
  type ScalarModel,
  type TrunkOptions,
} from '../models/index.ts';
import type { ValueSlopes } from './value-loss.ts';

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

export interface JointScalarOptions {
  /** The rows of the batch that count. */
  readonly rows: Int32Array;
  readonly slopes: ValueSlopes;
  readonly accumulate: (gradients: NamedArrays) => void;
}

/** `runScalar` and `scalarGradients` in one run, with the gradient of the loss as part of the graph; for
 *  models that run in one session. Returns the head's number at each row. */
export async function jointScalarGradients(
  model: ScalarModel,
  batch: PackedBatch,
  { rows, slopes, accumulate }: JointScalarOptions,
): Promise<Float32Array> {
  const { base, head, bias } = model;
  const column = (values: Float32Array) => tensor(values, [values.length]);
  const feeds = {
    [scoreWeightName]: head,
    bias: tensor(bias?.data ?? new Float32Array(1), [1]),
    factor: tensor(Float32Array.of(slopes.factor), []),
    returns: column(slopes.returns),
    lows: column(slopes.lows),
    highs: column(slopes.highs),
  };
  const build = (hidden: Value) => jointHead(base.architecture, hidden);
  const outputs = await runJointPass(model, batch, {
    rows,
    head: { key: 'scalar', build, feeds, trained: [scoreWeightName] },
    accumulate,
  });
  if (bias) accumulate({ [scoreBiasName]: Float32Array.of(sumOf(dataOf(outputs.dScores))) });
  return dataOf(outputs.scores);
}

/** The head's numbers, the gradient of the value loss with respect to them, and a scalar with that gradient. */
function jointHead(architecture: Architecture, hidden: Value) {
  const column = (name: string) => input(name, ['N']);
  const scores = add(scalarOf(architecture, hidden), input('bias', [1]));
  const slopes = mul(sub(scores, column('returns')), input('factor', []));
  const untilHigh = where(less(scores, column('highs')), 0, slopes);
  const dScores = where(greater(scores, column('lows')), untilHigh, slopes);
  return { loss: sum(mul(scores, detach(dScores))), scores, dScores };
}

function dataOf(output: Tensor | undefined): Float32Array {
  return output!.data as Float32Array;
}

function sumOf(numbers: Float32Array): number {
  return numbers.reduce((sum, x) => sum + x, 0);
}

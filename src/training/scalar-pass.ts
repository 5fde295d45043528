import { scoreBiasName, scoreWeightName } from '../base-setup/lora/peft-config.ts';
import {
  add,
  detach,
  gatherRows,
  grad,
  gradientName,
  greater,
  input,
  less,
  mul,
  reshape,
  type SaveList,
  sigmoid,
  sub,
  sum,
  type Value,
  where,
} from '../engine/graph/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import { type Feeds, freeTensors, type Tensor, tensor } from '../engine/runtime/index.ts';
import { backward } from '../models/decoder/forward.ts';
import { scalarGraph, scalarOf } from '../models/decoder/head-graph.ts';
import { runJointPass } from '../models/decoder/joint-pass.ts';

import { forwardFromTrunk } from '../models/decoder/trunk.ts';
import type { PackedBatch, Pass, ScalarModel, TrunkOptions } from '../models/index.ts';
import type { LogisticSlopes } from './preference-loss.ts';
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
  const hidden = await model.base.deviceRows.take(pass.hidden, rows);
  return { model, pass, rows, hidden, scores: await model.scores(hidden) };
}

/** Computes the gradients of head and adapter from ∂L/∂score. Consumes the pass. */
export async function scalarGradients(
  { model, pass, rows, hidden }: ScalarPass,
  dScores: Float32Array,
  accumulate: (gradients: NamedArrays) => void,
): Promise<void> {
  const { base, head } = model;
  const build = () => {
    const scores = scalarGraph(base.architecture);
    return grad(scores, { of: ['score'], wrt: ['x', scoreWeightName], save: 'none' }).backward;
  };
  const graph = await base.compile('scalar gradients', build, { keep: [gradientName('x')] });
  const outputs = await graph.run(
    await base.headFeeds(graph, {
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
  const dHidden = await base.deviceRows.scatter(dRows, rows, pass.hidden);
  freeTensors(hidden, dRows);
  freeTensors(await backward(pass, dHidden, accumulate));
}

/** ∂L/∂score as part of a graph, for losses whose slopes are functions of the scores. */
export interface ScoreSlopes {
  /** Identifies the graph that `build` returns. */
  readonly key: string;
  /** ∂L/∂score [N] from the scores [N] and inputs. */
  readonly build: (scores: Value) => Value;
  /** The values of these inputs. */
  readonly feeds: Feeds;
}

export interface JointScalarOptions {
  /** The rows of the batch that count. */
  readonly rows: Int32Array;
  readonly slopes: ScoreSlopes;
  /** The source of dropout masks; nothing is dropped without it. */
  readonly dropout?: RandomStream | undefined;
  readonly accumulate: (gradients: NamedArrays) => void;
}

/** `runScalar` and `scalarGradients` in one run, with the gradient of the loss as part of the graph; for
 *  models that run in one session. Returns the head's number at each row. */
export async function jointScalarGradients(
  model: ScalarModel,
  batch: PackedBatch,
  { rows, slopes, dropout, accumulate }: JointScalarOptions,
): Promise<Float32Array> {
  const { base, head, bias } = model;
  const feeds = {
    ...slopes.feeds,
    [scoreWeightName]: head,
    bias: tensor(bias?.data ?? new Float32Array(1), [1]),
  };
  const build = (hidden: Value) => {
    const scores = add(scalarOf(base.architecture, hidden), input('bias', [1]));
    const dScores = slopes.build(scores);
    return { loss: sum(mul(scores, detach(dScores))), scores, dScores };
  };
  const outputs = await runJointPass(model, batch, {
    ...{ rows, dropout, accumulate },
    head: { key: `scalar ${slopes.key}`, build, feeds, trained: [scoreWeightName] },
  });
  if (bias) accumulate({ [scoreBiasName]: Float32Array.of(sumOf(dataOf(outputs.dScores))) });
  return dataOf(outputs.scores);
}

/** The slopes of the value loss. */
export function valueScoreSlopes({ factor, returns, lows, highs }: ValueSlopes): ScoreSlopes {
  return {
    key: 'value',
    build(scores) {
      const slopes = mul(sub(scores, input('returns', ['N'])), input('factor', []));
      const untilHigh = where(less(scores, input('highs', ['N'])), 0, slopes);
      return where(greater(scores, input('lows', ['N'])), untilHigh, slopes);
    },
    feeds: {
      factor: tensor(Float32Array.of(factor), []),
      ...{ returns: column(returns), lows: column(lows), highs: column(highs) },
    },
  };
}

/** The slopes of a logistic loss: w·(σ(s − s_rival − m) − p), without s_rival if there are no rivals. */
export function logisticScoreSlopes({
  rivals,
  margins,
  targets,
  weights,
}: LogisticSlopes): ScoreSlopes {
  const named = { targets: column(targets), weights: column(weights) };
  return {
    key: rivals ? 'pairs' : 'ratings',
    build(scores) {
      const z = rivals ? sub(sub(scores, rivalsOf(scores)), input('margins', ['N'])) : scores;
      return mul(sub(sigmoid(z), input('targets', ['N'])), input('weights', ['N']));
    },
    feeds: rivals
      ? { ...named, margins: column(margins!), rivals: tensor(rivals, [rivals.length]) }
      : named,
  };
}

function rivalsOf(scores: Value): Value {
  const rows = gatherRows(reshape(scores, ['N', 1]), input('rivals', ['N'], 'int32'));
  return reshape(rows, ['N']);
}

function column(values: Float32Array): Tensor<'float32'> {
  return tensor(values, [values.length]);
}

function dataOf(output: Tensor | undefined): Float32Array {
  return output!.data as Float32Array;
}

function sumOf(numbers: Float32Array): number {
  return numbers.reduce((sum, x) => sum + x, 0);
}

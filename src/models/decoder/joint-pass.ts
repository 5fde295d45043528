import {
  type Graph,
  gatherRows,
  grad,
  gradientName,
  input,
  makeGraph,
  type Value,
} from '../../engine/graph/index.ts';
import type { NamedArrays } from '../../engine/optim/index.ts';
import type { RandomStream } from '../../engine/random/index.ts';
import { type Feeds, type Outputs, tensor } from '../../engine/runtime/index.ts';
import type { LayerRole } from './base-model.ts';
import { layerDropout, layerMasks } from './dropout-masks.ts';
import { gradientsOf, layerFeeds, trainedNames } from './forward.ts';
import { layerGraph } from './layer-graph.ts';
import type { PackedBatch } from './packed-batch.ts';

/** A head and a loss on top of the hidden states of some rows, as part of a graph. */
interface JointHead {
  /** Identifies the graph that `build` returns. */
  readonly key: string;
  /** Builds a scalar `loss`, whose gradients are computed, and other outputs, from hidden states before
   *  the final norm, [N, hidden]. */
  readonly build: (hidden: Value) => Readonly<Record<string, Value>> & { readonly loss: Value };
  /** Inputs of the head that are not weights of the base. */
  readonly feeds: Feeds;
  /** Names of the head's inputs that are trained. */
  readonly trained?: readonly string[];
}

export interface JointPassOptions {
  /** The rows of the batch that the head sees. */
  readonly rows: Int32Array;
  readonly head: JointHead;
  /** The source of dropout masks; nothing is dropped without it. */
  readonly dropout?: RandomStream | undefined;
  readonly accumulate: (gradients: NamedArrays) => void;
}

/**
 * Forward and backward pass of a role with an adapter in one run, for models that run in one session:
 * nothing is saved, copied or computed twice in between. The loss must be part of the graph.
 * Passes the gradients of the adapter and the head to `accumulate`; returns the head's outputs.
 */
export async function runJointPass(
  role: LayerRole,
  batch: PackedBatch,
  { rows, head, dropout: random, accumulate }: JointPassOptions,
): Promise<Outputs> {
  const { base, adapter } = role;
  const { config } = base.architecture;
  const count = config.num_hidden_layers;
  const { form, feeds: tables } = batch.plan(config);
  const dropout = random !== undefined && layerDropout(role) > 0;
  const trained = [...trainedNames(role, { first: 0, count }), ...(head.trained ?? [])];
  const build = (): Graph => {
    const lora = adapter?.config;
    const options = { lora, ...form, layers: count, dropout, mergeLora: true };
    const { y } = layerGraph(base.architecture, options).outputs;
    const graph = makeGraph(head.build(gatherRows(y!, input('rows', ['N'], 'int32'))));
    return grad(graph, { of: ['loss'], wrt: trained }).joint;
  };
  const key = `joint ${head.key} ${JSON.stringify([form, dropout, adapter?.config])}`;
  const compiled = await base.compile(key, build, { arena: true });
  const feeds = {
    ...tables,
    ...head.feeds,
    ...(dropout && layerMasks(role, { rows: batch.tokens.length, first: 0, count, random })),
    x: base.embed(batch),
    rows: tensor(rows, [rows.length]),
  };
  const ofLayers = await layerFeeds(role, compiled, { feeds, first: 0, count });
  const outputs = await compiled.run(await base.headFeeds(compiled, ofLayers));
  accumulate(gradientsOf(role, outputs, { first: 0, count }));
  for (const name of head.trained ?? []) {
    accumulate({ [name]: outputs[gradientName(name)]!.data as Float32Array });
  }
  return outputs;
}

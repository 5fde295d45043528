import { type LoraConfig, loraOfLayer } from '../../base-setup/lora/lora-config.ts';
import {
  add,
  concat,
  type Dim,
  div,
  exp,
  type Graph,
  input,
  makeGraph,
  matmul,
  maxOf,
  pad,
  reshape,
  rope,
  type Shape,
  slice,
  softmax,
  sub,
  sum,
  type Value,
} from '../../engine/graph/index.ts';
import type { Architecture } from './families/index.ts';
import { logitsOf } from './head-graph.ts';
import type { HeadValues } from './layer-context.ts';
import {
  ModuleContext,
  type ProductOptions,
  remember,
  type WeightGetter,
  type WeightSource,
} from './module-context.ts';

export interface DecodeGraphOptions {
  readonly source: WeightSource;
  readonly lora?: LoraConfig | undefined;
  /** Whether sums of e^((logit − max)/T) are computed too; T is the input `temperature`. */
  readonly sums?: boolean;
}

/** Number of logits per partial sum: most large vocabularies are a multiple of it. */
export const SUM_BLOCK = 128;

/**
 * The whole model for one new token of each of M sequences.
 *
 * Inputs: x [M, hidden], the tokens' embeddings; caches `k.<layer>` and `v.<layer>` [M, kvHeads, C, D];
 * `bias` [M, 1, 1, C], 0 where the cache has a token. Outputs: logits [M, V], their sums if
 * requested, and the new rows `k` and `v`, [layers, M, kvHeads, D]: the cache itself is never copied.
 */
export function decodeGraph(architecture: Architecture, options: DecodeGraphOptions): Graph {
  const { family, config } = architecture;
  const shared = remember((name, shape) => input(name, shape));
  const rows: HeadValues[] = [];
  let x = input('x', ['M', config.hidden_size]);
  for (let index = 0; index < config.num_hidden_layers; index++) {
    const context = new DecodeContext(architecture, { ...options, index, shared });
    x = family.layer(context, x);
    rows.push(context.rows as HeadValues);
  }
  const logits = logitsOf(architecture, x, options.source);
  return makeGraph({
    logits,
    ...(options.sums && weightSums(logits)),
    k: stack(rows.map(({ k }) => k)),
    v: stack(rows.map(({ v }) => v)),
  });
}

/** The largest logit of each row, [M, 1], and Σ e^((l − max)/T) of every block of `SUM_BLOCK` logits. */
function weightSums(logits: Value): { readonly max: Value; readonly sums: Value } {
  const [rows, vocabulary] = logits.shape as [Dim, number];
  const blocks = Math.ceil(vocabulary / SUM_BLOCK);
  const max = maxOf(logits, [-1]);
  const weights = exp(div(sub(logits, max), input('temperature', [])));
  const padded = pad(weights, { after: blocks * SUM_BLOCK - vocabulary });
  const sums = sum(reshape(padded, [rows, blocks, SUM_BLOCK]), [-1]);
  return { max, sums: reshape(sums, [rows, blocks]) };
}

function stack(rows: readonly Value[]): Value {
  return concat(
    rows.map((row) => reshape(row, [1, ...row.shape])),
    0,
  );
}

interface DecodeContextOptions extends DecodeGraphOptions {
  readonly index: number;
  /** Inputs that all layers share. */
  readonly shared: WeightGetter;
}

class DecodeContext extends ModuleContext {
  rows: HeadValues | undefined;
  private readonly options: DecodeContextOptions;
  private readonly layerPrefix: string;

  constructor({ family, config }: Architecture, options: DecodeContextOptions) {
    const layerPrefix = family.names.layer(options.index);
    super(config, { lora: loraOfLayer(options.lora, options.index), prefix: layerPrefix });
    this.options = options;
    this.layerPrefix = layerPrefix;
  }

  override weight(name: string, shape: Shape): Value {
    return this.options.source.weight(`${this.layerPrefix}${name}`, shape);
  }

  protected override product(x: Value, module: string, options: ProductOptions): Value {
    return this.options.source.product(x, `${this.layerPrefix}${module}.weight`, options);
  }

  override rope(heads: Value): Value {
    const half = (heads.shape[2] as number) / 2;
    return rope(
      heads,
      this.options.shared('cos', ['M', half]),
      this.options.shared('sin', ['M', half]),
    );
  }

  /** Attention over the cached keys and the token's own key, whose score is last. */
  attend({ q, k, v }: HeadValues): Value {
    this.rows = { q, k, v };
    const [, heads, size] = q.shape as [string, number, number];
    const kvHeads = k.shape[1] as number;
    const cached = (name: string) =>
      input(`${name}.${this.options.index}`, ['M', kvHeads, 'C', size]);
    const own = (rows: Value) => reshape(rows, ['M', kvHeads, 1, size]);
    const grouped = reshape(q, ['M', kvHeads, heads / kvHeads, size]);
    const scores = (keys: Value) =>
      matmul(grouped, keys, { transB: true, alpha: 1 / Math.sqrt(size) });
    const bias = this.options.shared('bias', ['M', 1, 1, 'C']);
    const weights = softmax(concat([add(scores(cached('k')), bias), scores(own(k))]));
    const past = matmul(slice(weights, { end: 'C' }), cached('v'));
    const present = matmul(slice(weights, { start: 'C' }), own(v));
    return reshape(add(past, present), ['M', heads * size]);
  }
}

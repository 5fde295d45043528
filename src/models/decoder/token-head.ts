import type { Graph } from '../../engine/graph/index.ts';
import {
  type CompiledGraph,
  type CompileOptions,
  type Feeds,
  type GraphInputs,
  type Tensor,
  tensor,
} from '../../engine/runtime/index.ts';
import type { ByteBase } from './byte-weight.ts';
import type { Architecture } from './families/index.ts';
import {
  sumWidths,
  type TokenGradients,
  vocabularyEndGraph,
  vocabularyPartGraph,
} from './token-head-graph.ts';

/** Maximum number of logits in memory. */
export const LOGITS_AT_ONCE = 2 ** 20;
const ROWS_AT_ONCE = 1024;
/** Longer sums of float32 numbers would lose digits. */
const COLUMNS_AT_ONCE = 2 ** 15;
/** Below every logit but finite: 0·(m − m′) must be 0. */
const LOWEST = -1e30;

/** The parts of a model that its output head needs. */
export interface HeadOwner {
  readonly architecture: Architecture;
  /** The name of the head's weight. */
  readonly headName: string;
  readonly bytes: ByteBase | undefined;
  weight(name: string): Tensor<'float32'>;
  rows(name: string, ids: Int32Array): Float32Array;
  headFeeds(graph: GraphInputs, shared: Feeds): Feeds;
  compile(key: string, build: () => Graph, options?: CompileOptions): Promise<CompiledGraph>;
}

export interface TokenHeadOptions {
  readonly temperature: number;
  readonly gradients: TokenGradients;
}

/** Log-probabilities and entropies of tokens; gradients are [M, hidden], empty if not requested. */
export interface TokenNumbers {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly byLogprob: Float32Array;
  readonly byEntropy: Float32Array;
}

/**
 * log π of a token after each hidden state and the entropy there, with their gradients with respect to
 * the hidden state. The vocabulary is processed part by part (online softmax, arXiv:1805.02867), so
 * the full logits never exist, and each part of the weight is read once.
 */
export async function runTokenHead(
  base: HeadOwner,
  { hidden, tokens }: { hidden: Tensor<'float32'>; tokens: Int32Array },
  options: TokenHeadOptions,
): Promise<TokenNumbers> {
  const { hidden_size } = base.architecture.config;
  const { gradients } = options;
  const count = tokens.length;
  const numbers = {
    logprobs: new Float32Array(count),
    entropies: new Float32Array(count),
    byLogprob: new Float32Array(gradients === 'none' ? 0 : count * hidden_size),
    byEntropy: new Float32Array(gradients === 'logprob and entropy' ? count * hidden_size : 0),
  };
  for (const [start, end] of evenParts(count, ROWS_AT_ONCE)) {
    const x = hidden.data.subarray(start * hidden_size, end * hidden_size);
    const rows = { x: tensor(x, [end - start, hidden_size]), tokens: tokens.subarray(start, end) };
    const { logprob, entropy, byLogprob, byEntropy } = await runRows(base, rows, options);
    numbers.logprobs.set(logprob!.data as Float32Array, start);
    numbers.entropies.set(entropy!.data as Float32Array, start);
    if (byLogprob) numbers.byLogprob.set(byLogprob.data as Float32Array, start * hidden_size);
    if (byEntropy) numbers.byEntropy.set(byEntropy.data as Float32Array, start * hidden_size);
  }
  return numbers;
}

async function runRows(
  base: HeadOwner,
  { x, tokens }: { x: Tensor<'float32'>; tokens: Int32Array },
  { temperature, gradients }: TokenHeadOptions,
): Promise<Feeds> {
  const { architecture, bytes, headName } = base;
  const { hidden_size } = architecture.config;
  const rows = tokens.length;
  const part = await base.compile(
    `vocabulary part ${gradients}`,
    () => vocabularyPartGraph(architecture, { gradients, ...(bytes && { bytes: bytes.format }) }),
    { arena: true },
  );
  const end = await base.compile(`vocabulary end ${gradients}`, () =>
    vocabularyEndGraph(architecture, { gradients }),
  );
  const shared = { x, temperature: tensor(Float32Array.of(temperature), []) };
  let sums: Feeds = Object.fromEntries(
    Object.entries(sumWidths(architecture, gradients)).map(([name, width]) => {
      const initial = new Float32Array(rows * width).fill(name === 'm' ? LOWEST : 0);
      return [name, tensor(initial, [rows, width])];
    }),
  );
  for (const weights of vocabularyParts(base, rows)) {
    sums = await part.run(base.headFeeds(part, { ...shared, ...sums, ...weights }));
  }
  const tokenWeights = tensor(base.rows(headName, tokens), [rows, hidden_size]);
  return end.run(base.headFeeds(end, { ...shared, ...sums, 'token.weight': tokenWeights }));
}

/** The head's weights part by part: blocks of bytes, or as many float32 rows as keep the logits small. */
function* vocabularyParts(base: HeadOwner, rows: number): Generator<Feeds> {
  const { hidden_size, vocab_size } = base.architecture.config;
  const blocks = base.bytes?.weights.get(base.headName)?.blocks;
  if (blocks !== undefined) {
    for (const { bytes, scales } of blocks) yield { part: bytes, 'part.scales': scales };
    return;
  }
  const { data } = base.weight(base.headName);
  const most = Math.min(COLUMNS_AT_ONCE, Math.floor(LOGITS_AT_ONCE / rows));
  for (const [from, to] of evenParts(vocab_size, most)) {
    const weights = data.subarray(from * hidden_size, to * hidden_size);
    yield { part: tensor(weights, [to - from, hidden_size]) };
  }
}

/** Splits 0…length into parts of nearly equal size, none above `most`.
 *  @example 10 in parts of at most 4  →  0–4, 4–8, 8–10 */
export function evenParts(length: number, most: number): [start: number, end: number][] {
  const size = Math.ceil(length / Math.ceil(length / most)) || 1;
  return Array.from({ length: Math.ceil(length / size) }, (_, i) => [
    i * size,
    Math.min((i + 1) * size, length),
  ]);
}

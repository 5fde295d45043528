import type { Graph } from '../../engine/graph/index.ts';
import {
  type Backend,
  type CompiledGraph,
  type CompileOptions,
  type Feeds,
  freeTensors,
  type GraphInputs,
  type Tensor,
  tensor,
} from '../../engine/runtime/index.ts';
import type { ByteBase } from './byte-weight.ts';
import { type DeviceRows, freeFeeds } from './device-rows.ts';
import type { Architecture } from './families/index.ts';
import {
  sumWidths,
  type TokenGradients,
  vocabularyEndGraph,
  vocabularyPartGraph,
} from './token-head-graph.ts';

/** Maximum number of logits in memory. */
export const LOGITS_AT_ONCE = 2 ** 20;
/** The same on a device with its own memory, where small products cost as much as larger ones. */
const DEVICE_LOGITS_AT_ONCE = 2 ** 24;
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
  readonly backend: Backend;
  readonly deviceRows: DeviceRows;
  weight(name: string): Tensor<'float32'>;
  onDevice(key: string, part: () => Tensor): Tensor | Promise<Tensor>;
  rows(name: string, ids: Int32Array): Float32Array;
  headFeeds(graph: GraphInputs, shared: Feeds): Promise<Feeds>;
  settle(feeds: Readonly<Record<string, Tensor | Promise<Tensor>>>): Promise<Feeds>;
  compile(key: string, build: () => Graph, options?: CompileOptions): Promise<CompiledGraph>;
}

export interface TokenHeadOptions {
  readonly temperature: number;
  readonly gradients: TokenGradients;
}

/** Log-probabilities and entropies of tokens, and their gradients [M, hidden] if requested, which stay on
 *  the device. */
export interface TokenNumbers {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  /** Undefined if not requested, or without rows. */
  readonly byLogprob: Tensor<'float32'> | undefined;
  readonly byEntropy: Tensor<'float32'> | undefined;
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
  const count = tokens.length;
  const [logprobs, entropies] = [new Float32Array(count), new Float32Array(count)];
  const byLogprob: Tensor<'float32'>[] = [];
  const byEntropy: Tensor<'float32'>[] = [];
  const parts = evenParts(count, ROWS_AT_ONCE);
  for (const [start, end] of parts) {
    const x = parts.length === 1 ? hidden : await base.deviceRows.slice(hidden, { start, end });
    const numbers = await runRows(base, { x, tokens: tokens.subarray(start, end) }, options);
    if (parts.length > 1) freeTensors(x);
    logprobs.set(numbers.logprob!.data as Float32Array, start);
    entropies.set(numbers.entropy!.data as Float32Array, start);
    if (numbers.byLogprob) byLogprob.push(numbers.byLogprob as Tensor<'float32'>);
    if (numbers.byEntropy) byEntropy.push(numbers.byEntropy as Tensor<'float32'>);
  }
  return {
    ...{ logprobs, entropies },
    byLogprob: await joinGradients(base, byLogprob),
    byEntropy: await joinGradients(base, byEntropy),
  };
}

/** Gradients of all rows; undefined if there are none. */
async function joinGradients(
  { deviceRows }: HeadOwner,
  parts: readonly Tensor<'float32'>[],
): Promise<Tensor<'float32'> | undefined> {
  if (parts.length === 0) return undefined;
  const joined = await deviceRows.concat(parts);
  if (parts.length > 1) freeTensors(...parts);
  return joined;
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
    { arena: true, keep: () => true },
  );
  const end = await base.compile(
    `vocabulary end ${gradients}`,
    () => vocabularyEndGraph(architecture, { gradients }),
    { keep: ['byLogprob', 'byEntropy'] },
  );
  const shared = { x, temperature: tensor(Float32Array.of(temperature), []) };
  let sums: Feeds = Object.fromEntries(
    Object.entries(sumWidths(architecture, gradients)).map(([name, width]) => {
      const initial = new Float32Array(rows * width).fill(name === 'm' ? LOWEST : 0);
      return [name, tensor(initial, [rows, width])];
    }),
  );
  for (const weights of vocabularyParts(base, rows)) {
    const feeds = { ...shared, ...sums, ...(await base.settle(weights)) };
    const next = await part.run(await base.headFeeds(part, feeds));
    freeFeeds(sums);
    sums = next;
  }
  const tokenWeights = tensor(base.rows(headName, tokens), [rows, hidden_size]);
  const feeds = { ...shared, ...sums, 'token.weight': tokenWeights };
  const numbers = await end.run(await base.headFeeds(end, feeds));
  freeFeeds(sums);
  return numbers;
}

/** The head's weights part by part: blocks of bytes, or as many float32 rows as keep the logits small. */
function* vocabularyParts(
  base: HeadOwner,
  rows: number,
): Generator<Readonly<Record<string, Tensor | Promise<Tensor>>>> {
  const { hidden_size, vocab_size } = base.architecture.config;
  const { headName: name, backend } = base;
  const blocks = base.bytes?.weights.get(name)?.blocks;
  if (blocks !== undefined) {
    for (const { bytes, scales } of blocks) yield { part: bytes, 'part.scales': scales };
    return;
  }
  const { data } = base.weight(name);
  // On a device, the parts are copies there, so they must not depend on the rows.
  const most = backend.keepsTensors
    ? Math.floor(DEVICE_LOGITS_AT_ONCE / ROWS_AT_ONCE)
    : Math.min(COLUMNS_AT_ONCE, Math.floor(LOGITS_AT_ONCE / rows));
  const parts = evenParts(vocab_size, most);
  for (const [from, to] of parts) {
    const key = parts.length === 1 ? name : `${name} ${from}–${to}`;
    const weights = () => data.subarray(from * hidden_size, to * hidden_size);
    yield { part: base.onDevice(key, () => tensor(weights(), [to - from, hidden_size])) };
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

import type { SaveList } from '../engine/graph/index.ts';
import { grad, gradientName, input, type Value } from '../engine/graph/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import { freeTensors, readTensor, type Tensor, tensor } from '../engine/runtime/index.ts';
import { backward, forward } from '../models/decoder/forward.ts';
import { logprobsGraph } from '../models/decoder/head-graph.ts';
import { runJointPass } from '../models/decoder/joint-pass.ts';
import { PackedBatch } from '../models/decoder/packed-batch.ts';
import { scatterRows } from '../models/decoder/rows.ts';
import { evenParts } from '../models/decoder/token-head.ts';
import type { BaseModel, LayerRole } from '../models/index.ts';
import { jointTokenHead, runsTokensJointly, runTrainedTokens } from './policy-pass.ts';

/** A text and which of its tokens are learned. */
export interface LearnedText {
  readonly tokens: Int32Array;
  /** Positions of the tokens that count in the loss; the first token never does. */
  readonly learned: Int32Array;
}

export interface LanguageOptions {
  /** Number of learned tokens in the whole optimiser step. */
  readonly tokenCount: number;
  readonly save?: SaveList;
  /** The source of dropout masks; nothing is dropped without it. */
  readonly dropout?: RandomStream | undefined;
  readonly accumulate: (gradients: NamedArrays) => void;
}

/** Forward and backward pass of a language model over texts that run together, without padding.
 *  Accumulates the gradients of L = −(1/N) Σ log π(learned token) for the role's adapter or, without
 *  one, for the base. Returns these texts' share of L. */
export async function languageGradients(
  role: LayerRole,
  texts: readonly LearnedText[],
  { tokenCount, save = 'matmul', dropout, accumulate }: LanguageOptions,
): Promise<number> {
  const { base, adapter } = role;
  const batch = packTexts(texts);
  const { rows, targets } = learnedRows(texts, batch);
  if (runsTokensJointly(role, rows.length)) {
    return runJointly(role, batch, { rows, targets, tokenCount, dropout, accumulate });
  }
  const pass = await forward(role, batch, { save, dropout });
  const { deviceRows } = base;
  const learned = {
    hidden: await deviceRows.take(pass.hidden, rows),
    tokens: targets,
    weights: new Float32Array(rows.length).fill(1 / tokenCount),
  };
  const { loss, dHidden } =
    adapter === undefined
      ? await trainLanguageHead(base, learned, accumulate)
      : await runLanguageHead(base, learned);
  const scattered = await deviceRows.scatter(dHidden, rows, pass.hidden);
  freeTensors(learned.hidden, dHidden);
  const dx = await backward(pass, scattered, accumulate);
  if (adapter === undefined) accumulate(embeddingGradients(base, batch, await readTensor(dx)));
  freeTensors(dx);
  return loss;
}

interface JointLanguageOptions extends Omit<LanguageOptions, 'save'> {
  readonly rows: Int32Array;
  readonly targets: Int32Array;
}

/** `languageGradients` in one run, for small models with an adapter. */
async function runJointly(
  role: LayerRole,
  batch: PackedBatch,
  { rows, targets, tokenCount, dropout, accumulate }: JointLanguageOptions,
): Promise<number> {
  const slopes = new Float32Array(rows.length).fill(-1 / tokenCount);
  const feeds = {
    tokens: tensor(targets, [rows.length]),
    temperature: tensor(Float32Array.of(1), []),
    slopes: tensor(slopes, [rows.length]),
  };
  const build = (hidden: Value) =>
    jointTokenHead(role.base.architecture, hidden, () => input('slopes', ['N']));
  const head = { key: 'language', build, feeds };
  const { logprob } = await runJointPass(role, batch, { rows, head, dropout, accumulate });
  return dot(slopes, logprob!.data as Float32Array);
}

/** Texts as one batch; shared prefixes run once. */
export function packTexts(texts: readonly LearnedText[]): PackedBatch {
  return new PackedBatch(
    texts.map(({ tokens }) => tokens),
    { share: true },
  );
}

/** The rows of a packed batch that predict the learned tokens, and those tokens.
 *  @example texts of tokens [5, 6, 7] learned at [1, 2] and [8, 9] learned at [1]
 *    →  rows [0, 1, 3], targets [6, 7, 9] */
export function learnedRows(
  texts: readonly LearnedText[],
  batch: Pick<PackedBatch, 'rows'>,
): { rows: Int32Array; targets: Int32Array } {
  const rows: number[] = [];
  const targets: number[] = [];
  for (const [i, { tokens, learned }] of texts.entries()) {
    for (const position of learned) {
      rows.push(batch.rows[i]![position - 1]!);
      targets.push(tokens[position]!);
    }
  }
  return { rows: Int32Array.from(rows), targets: Int32Array.from(targets) };
}

/** Maximum number of logits of a trained head in memory; its gradient is as large as its weight. */
export const TRAINED_LOGITS_AT_ONCE = 2 ** 24;

/** Hidden states, the token after each, and the weight of its loss. */
interface LanguageRows {
  readonly hidden: Tensor<'float32'>;
  readonly tokens: Int32Array;
  readonly weights: Float32Array;
}

/** L = −Σ_m w_m log π(token_m) and ∂L/∂x [M, hidden]. */
interface HeadLoss {
  readonly loss: number;
  readonly dHidden: Tensor<'float32'>;
}

/** The loss through a frozen output head. */
async function runLanguageHead(
  base: BaseModel,
  { hidden, tokens, weights }: LanguageRows,
): Promise<HeadLoss> {
  const options = { temperature: 1, withEntropy: false };
  const head = await runTrainedTokens(base, { hidden, tokens }, options);
  const dLogprobs = weights.map((w) => -w);
  return { loss: dot(dLogprobs, head.logprobs), dHidden: await head.pullBack(dLogprobs) };
}

/** The loss through an output head that is trained too, some rows at a time. */
async function trainLanguageHead(
  base: BaseModel,
  { tokens, weights, ...rows }: LanguageRows,
  accumulate: (gradients: NamedArrays) => void,
): Promise<HeadLoss> {
  const hidden = await readTensor(rows.hidden);
  const graph = logprobsGraph(base.architecture);
  const trained = trainedInputs(graph.inputs);
  const head = await base.compile(
    'language head',
    () => grad(graph, { of: ['logprob'], wrt: ['x', ...trained] }).joint,
  );
  const { hidden_size: width, vocab_size } = base.architecture.config;
  const dHidden = new Float32Array(tokens.length * width);
  let loss = 0;
  const rowsAtOnce = Math.max(1, Math.floor(TRAINED_LOGITS_AT_ONCE / vocab_size));
  for (const [start, end] of evenParts(tokens.length, rowsAtOnce)) {
    const dLogprobs = weights.subarray(start, end).map((w) => -w);
    const feeds = {
      x: tensor(hidden.data.subarray(start * width, end * width), [end - start, width]),
      tokens: tensor(tokens.subarray(start, end), [end - start]),
      temperature: tensor(Float32Array.of(1), []),
      [gradientName('logprob')]: tensor(dLogprobs, [end - start]),
    };
    const outputs = await head.run(await base.headFeeds(head, feeds));
    loss += dot(dLogprobs, outputs.logprob!.data as Float32Array);
    dHidden.set(outputs[gradientName('x')]!.data as Float32Array, start * width);
    for (const name of trained) {
      const gradient = outputs[gradientName(name)]!.data as Float32Array;
      accumulate({ [name === 'head.weight' ? base.headName : name]: gradient });
    }
  }
  return { loss, dHidden: tensor(dHidden, [tokens.length, width]) };
}

/** Gradients of the embedding, and of learned positions, from that of the first layer's input:
 *  each token adds its row to its row of the table. */
function embeddingGradients(
  { architecture }: BaseModel,
  { tokens, positions }: PackedBatch,
  dx: Tensor<'float32'>,
): NamedArrays {
  const { family, config } = architecture;
  const { vocab_size, max_position_embeddings } = config;
  const gradients: Record<string, Float32Array> = {
    [family.names.embedding]: scatterRows(dx, tokens, vocab_size).data,
  };
  if (family.names.positions !== undefined) {
    gradients[family.names.positions] = scatterRows(dx, positions, max_position_embeddings).data;
  }
  return gradients;
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, number, i) => sum + number * b[i]!, 0);
}

/** The head's weights: all its inputs except the batch's. */
function trainedInputs(inputs: object): string[] {
  return Object.keys(inputs).filter((name) => !['x', 'tokens', 'temperature'].includes(name));
}

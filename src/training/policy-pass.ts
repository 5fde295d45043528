import {
  add,
  detach,
  exp,
  gatherLast,
  gatherRows,
  greaterEqual,
  input,
  lessEqual,
  linear,
  logSoftmax,
  matmul,
  mul,
  neg,
  reshape,
  type SaveList,
  sub,
  sum,
  type Value,
  where,
} from '../engine/graph/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import { freeTensors, isOnHost, type Tensor, tensor } from '../engine/runtime/index.ts';
import { backward, runsInOneSession } from '../models/decoder/forward.ts';
import { headWeight, scaledHidden } from '../models/decoder/head-graph.ts';
import { runJointPass } from '../models/decoder/joint-pass.ts';
import { runTokenHead } from '../models/decoder/token-head.ts';
import { forwardFromTrunk } from '../models/decoder/trunk.ts';
import type { Architecture, LayerRole, Pass, RowPass, TrunkOptions } from '../models/index.ts';
import { packResponses, type Responses, stateRows } from '../models/responses.ts';
import type { TokenSlopes } from './policy-loss.ts';

export interface PolicyPassOptions extends TrunkOptions {
  readonly temperature: number;
  /** Also computes the gradients of the entropies. */
  readonly withEntropy: boolean;
  /** What the layers save for the backward pass. */
  readonly save: SaveList;
  /** Passes over the prompts, in the order of `distinctPrompts`: they are not run again. */
  readonly past?: readonly RowPass[];
}

/** A forward pass over responses that `policyGradients` can complete. */
export interface PolicyPass {
  readonly pass: Pass;
  readonly rows: Int32Array;
  readonly head: TokenRows;
}

/** log π and entropy of some tokens, and their gradients with respect to the hidden state. */
export interface TokenRows {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  /** ∂L/∂x [M, hidden] from ∂L/∂logprob and, if requested, ∂L/∂entropy of each row. Call it once. */
  pullBack(dLogprobs: Float32Array, dEntropies?: Float32Array): Promise<Tensor<'float32'>>;
  /** Frees the memory on the device if `pullBack` is not called. */
  free(): void;
}

/** Runs the policy over responses: log π and entropy of every token. */
export async function runPolicy(
  role: LayerRole,
  responses: Responses,
  { temperature, withEntropy, save, past = [], trunk }: PolicyPassOptions,
): Promise<PolicyPass> {
  const batch = packResponses(responses);
  const pass = await forwardFromTrunk(role, batch, { save, past, trunk });
  const rows = stateRows(batch, responses);
  const hidden = await role.base.deviceRows.take(pass.hidden, rows);
  const { tokens } = responses;
  const options = { temperature, withEntropy };
  const head = await runTrainedTokens(role.base, { hidden, tokens }, options);
  freeTensors(hidden);
  return { pass, rows, head };
}

/** Maximum number of logits of a joint run. */
const JOINT_LOGITS = 2 ** 22;

/** Whether a role can run jointly with its loss on this many tokens: small models with few logits. */
export function runsTokensJointly(role: LayerRole, tokens: number): boolean {
  const hasFewLogits = tokens * role.base.architecture.config.vocab_size <= JOINT_LOGITS;
  return role.adapter !== undefined && runsInOneSession(role) && hasFewLogits;
}

export interface JointPolicyOptions {
  readonly temperature: number;
  readonly oldLogprobs: Float32Array;
  readonly slopes: TokenSlopes;
  readonly accumulate: (gradients: NamedArrays) => void;
}

/** `runPolicy` and `policyGradients` in one run, with the gradient of the loss as part of the graph. */
export async function jointPolicyGradients(
  role: LayerRole,
  responses: Responses,
  { temperature, oldLogprobs, slopes, accumulate }: JointPolicyOptions,
): Promise<Pick<TokenRows, 'logprobs' | 'entropies'>> {
  const batch = packResponses(responses);
  const { tokens } = responses;
  const column = (values: Float32Array) => tensor(values, [values.length]);
  const feeds = {
    tokens: tensor(tokens, [tokens.length]),
    temperature: tensor(Float32Array.of(temperature), []),
    old: column(oldLogprobs),
    slopes: column(slopes.slopes),
    lows: column(slopes.lows),
    highs: column(slopes.highs),
  };
  const build = (hidden: Value) => jointTokenHead(role.base.architecture, hidden, clippedSlopes);
  const rows = stateRows(batch, responses);
  const head = { key: 'policy', build, feeds };
  const { logprob, entropy } = await runJointPass(role, batch, { rows, head, accumulate });
  return {
    logprobs: logprob!.data as Float32Array,
    entropies: entropy!.data as Float32Array,
  };
}

/** ∂L/∂log π of the policy loss: slope·e^d if low ≤ d ≤ high, otherwise 0, with d = new − old. */
function clippedSlopes(logprob: Value): Value {
  const column = (name: string) => input(name, ['N']);
  const d = sub(logprob, column('old'));
  const slope = mul(column('slopes'), exp(d));
  const untilHigh = where(lessEqual(d, column('highs')), slope, 0);
  return where(greaterEqual(d, column('lows')), untilHigh, 0);
}

/** The head of a joint run: log π and entropy of `tokens` [N] at `temperature`, and a scalar with the
 *  gradient of a loss of the log π. With n = norm(x)/T, weights W and probabilities p,
 *  ∂log π/∂n = W_token − p·W.
 *  @param slopesOf returns ∂L/∂log π [N] */
export function jointTokenHead(
  architecture: Architecture,
  hidden: Value,
  slopesOf: (logprob: Value) => Value,
) {
  const n = scaledHidden(architecture, hidden);
  const W = headWeight(architecture);
  const tokens = input('tokens', ['N'], 'int32');
  const l = logSoftmax(linear(n, W));
  const p = exp(l);
  const logprob = gatherLast(l, tokens);
  const dLogprob = reshape(slopesOf(logprob), ['N', 1]);
  const dn = mul(dLogprob, sub(gatherRows(W, tokens), matmul(p, W)));
  const entropy = reshape(neg(sum(mul(p, l), [-1])), ['N']);
  return { loss: sum(mul(n, detach(dn))), logprob, entropy };
}

/** Computes the adapter's gradients from those of the loss. Consumes the pass. */
export async function policyGradients(
  { pass, rows, head }: PolicyPass,
  gradients: { readonly dLogprobs: Float32Array; readonly dEntropies: Float32Array | undefined },
  accumulate: (gradients: NamedArrays) => void,
): Promise<void> {
  const { deviceRows } = pass.role.base;
  const dRows = await head.pullBack(gradients.dLogprobs, gradients.dEntropies);
  const dHidden = await deviceRows.scatter(dRows, rows, pass.hidden);
  freeTensors(dRows);
  freeTensors(await backward(pass, dHidden, accumulate));
}

/**
 * The frozen output head, run once. Rows do not depend on each other, so
 * ∂L/∂x_m = ∂L/∂logprob_m · ∂logprob_m/∂x_m: the second factor comes with the forward pass, and any
 * loss of the logprobs can be computed afterwards on the host.
 */
export async function runTrainedTokens(
  base: LayerRole['base'],
  rows: { readonly hidden: Tensor<'float32'>; readonly tokens: Int32Array },
  { temperature, withEntropy }: Pick<PolicyPassOptions, 'temperature' | 'withEntropy'>,
): Promise<TokenRows> {
  const gradients = withEntropy ? 'logprob and entropy' : 'logprob';
  const numbers = await runTokenHead(base, rows, { temperature, gradients });
  const { logprobs, entropies, byLogprob, byEntropy } = numbers;
  const free = () => freeTensors(byLogprob, byEntropy);
  return {
    logprobs,
    entropies,
    async pullBack(dLogprobs, dEntropies) {
      if (byLogprob === undefined) return tensor(new Float32Array(0), rows.hidden.shape);
      const terms = [{ rows: byLogprob, factors: dLogprobs }];
      if (dEntropies !== undefined) terms.push({ rows: byEntropy!, factors: dEntropies });
      const dHidden = await sumScaledRows(base, terms);
      free();
      return dHidden;
    },
    free,
  };
}

interface ScaledRows {
  readonly rows: Tensor<'float32'>;
  /** One per row. */
  readonly factors: Float32Array;
}

/** Σ factor·row of one or two terms; in host memory, the first term is overwritten. */
async function sumScaledRows(
  { deviceRows }: LayerRole['base'],
  [first, second]: readonly ScaledRows[],
): Promise<Tensor<'float32'>> {
  const { rows, factors } = first!;
  if (isOnHost(rows)) {
    scaleRows(rows.data, factors);
    if (second) addScaledRows(rows.data, second.rows.data, second.factors);
    return rows;
  }
  const column = (values: Float32Array) => tensor(values, [values.length, 1]);
  const x = await deviceRows.mul(rows, column(factors));
  if (second === undefined) return x;
  const y = await deviceRows.mul(second.rows, column(second.factors));
  const sum = await deviceRows.combine('add', { x, y }, (values) => add(values.x!, values.y!));
  freeTensors(x, y);
  return sum;
}

function scaleRows(matrix: Float32Array, factors: Float32Array): void {
  const width = matrix.length / factors.length;
  for (let m = 0; m < factors.length; m++) {
    const row = matrix.subarray(m * width, (m + 1) * width);
    for (let i = 0; i < width; i++) row[i] = row[i]! * factors[m]!;
  }
}

function addScaledRows(sum: Float32Array, matrix: Float32Array, factors: Float32Array): void {
  const width = matrix.length / factors.length;
  for (let i = 0; i < matrix.length; i++) {
    sum[i] = sum[i]! + matrix[i]! * factors[Math.floor(i / width)]!;
  }
}

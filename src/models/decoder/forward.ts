import {
  firstAdaptedLayer,
  type LoraConfig,
  loraOfLayer,
} from '../../base-setup/lora/lora-config.ts';
import { type GradGraphs, grad, gradientName, type SaveList } from '../../engine/graph/index.ts';
import type { NamedArrays } from '../../engine/optim/index.ts';
import type { RandomStream } from '../../engine/random/index.ts';
import {
  type CompiledGraph,
  type Feeds,
  freeTensors,
  type GraphInputs,
  isOnHost,
  type Outputs,
  type Tensor,
} from '../../engine/runtime/index.ts';
import type { LayerRole } from './base-model.ts';
import type { BatchForm } from './batch-plan.ts';
import { freeFeeds } from './device-rows.ts';
import { embeddingMask, joinEmbeddingMasks, layerDropout, layerMasks } from './dropout-masks.ts';
import { layerGraph, layerParts, layerPrefix } from './layer-graph.ts';
import type { PackedBatch } from './packed-batch.ts';
import type { KeysAndValues, LayerStates, Pass, RowPass } from './pass.ts';
import { mulElements } from './rows.ts';

/** What a forward pass saves, reuses and reports. */
export interface ForwardOptions {
  /** Values to save for `backward` instead of recomputing them; without it there is no tape. Trains the
   *  adapter or, without one, the base. */
  readonly save?: SaveList | undefined;
  /** Passes over the first rows of the batch, in order: only the other rows are run. If the role has
   *  frozen layers, `start` must be given too. */
  readonly past?: readonly RowPass[];
  /** Hidden states to start from instead of the embeddings; they belong to the pass from then on. */
  readonly start?: LayerStates | undefined;
  /** Number of layers after which the pass ends; all by default. */
  readonly end?: number | undefined;
  /** Receives the keys and values [M, kvHeads, D] of each layer, which belong to the pass. */
  readonly onKeysAndValues?: (layer: number, keysAndValues: KeysAndValues) => void | Promise<void>;
  /** The source of dropout masks; nothing is dropped without it. Drops inputs of the adapter or, without
   *  one, embeddings and outputs of sublayers. */
  readonly dropout?: RandomStream | undefined;
  /** Debugging: throws at the first op that produces a NaN. */
  readonly checkNumerics?: boolean;
}

/** Number of layers below the first one that training changes: their hidden states are those of the base.
 *  Without an adapter, training changes all layers. */
export function frozenLayers({ adapter }: LayerRole): number {
  return adapter === undefined ? 0 : firstAdaptedLayer(adapter.config);
}

/**
 * Runs a batch through the layers of a role. This is the only loop over layers: scoring, prefill,
 * training and debugging all call it. One ONNX Runtime session runs `base.layersPerSession` layers.
 */
export async function forward(
  role: LayerRole,
  batch: PackedBatch,
  options: ForwardOptions = {},
): Promise<Pass> {
  const { base } = role;
  const { save, past = [], start, end, onKeysAndValues, dropout: random } = options;
  const known = past.reduce((sum, { hidden }) => sum + hidden.shape[0]!, 0);
  const { form, feeds: tables } = batch.plan(base.architecture.config, known);
  const cache = onKeysAndValues !== undefined;
  const [tokens, positions] = [batch.tokens.subarray(known), batch.positions.subarray(known)];
  const sessions: Feeds[][] = [];
  const embeddings = embeddingMask(role, { rows: tokens.length, random });
  const embed = () =>
    mulElements(base.embed({ tokens, positions }), joinEmbeddingMasks([embeddings]));
  let x = (await statesOf(base, start, { known, end: batch.tokens.length })) ?? embed();
  for (const span of layerSpans(role, { from: start?.layer, to: end })) {
    const { first, count, isTrained } = span;
    const { dropout, masks } = spanMasks(role, span, { rows: tokens.length, random });
    const graph = { ...form, layers: count, dropout, cache };
    const taped = isTrained ? save : undefined;
    const { checkNumerics = false } = options;
    const compiled = await compileLayers(role, graph, { span, save: taped, checkNumerics });
    const pastParts = isTrained ? past.map((pass) => pass.sessions[sessions.length]!) : [];
    const pastKeys = await pastOf(base, pastParts, { count, expected: past.length });
    const feeds = { ...tables, x, ...masks, ...pastKeys };
    const { y, ...outputs } = await compiled.run(
      await layerFeeds(role, compiled, { feeds, first, count }),
    );
    if (pastParts.length > 1) freeFeeds(pastKeys);
    if (cache) await reportKeys(outputs, span, onKeysAndValues);
    const taken = save === undefined ? {} : { x, ...masks, ...(first === 0 && embeddings) };
    const own = { ...taken, ...outputs };
    if (isTrained) sessions.push([...pastParts, own]);
    // What the tape does not hold is not needed any more.
    if (taped === undefined) freeTensors(x);
    if (!isTrained) freeFeeds(outputs);
    x = y as Tensor<'float32'>;
  }
  const hidden = await base.deviceRows.concat([...past.map((pass) => pass.hidden), x]);
  if (past.length > 0) freeTensors(x);
  return { role, batch, hidden, tape: { save, dropout: random !== undefined, sessions } };
}

/**
 * Runs the backward pass from ∂L/∂hidden down to the first trained layer. Passes each session's gradients to
 * `accumulate` and returns the gradient of that layer's input, which is ∂L/∂embeddings if all layers
 * are trained. Pass and ∂L/∂hidden are consumed: their memory is released layer by layer.
 */
export async function backward(
  { role, batch, hidden, tape }: Pass,
  dHidden: Tensor<'float32'>,
  accumulate: (gradients: NamedArrays) => void,
): Promise<Tensor<'float32'>> {
  const { base } = role;
  const { save, sessions } = tape;
  if (save === undefined) throw new Error('Internal: backward() needs a pass with a tape');
  const { form, feeds: tables } = batch.plan(base.architecture.config);
  const joiner = new PartJoiner(base);
  const mask = joinEmbeddingMasks(sessions[0]!);
  let dy = dHidden;
  for (const span of layerSpans(role, { from: frozenLayers(role) }).reverse()) {
    const { first, count } = span;
    const dropout = tape.dropout && dropsIn(role, span);
    const graph = { ...form, layers: count, dropout, cache: false };
    const compiled = await compileLayers(role, graph, { span, save, isBackward: true });
    const parts = sessions.pop()!;
    const saved = await joiner.join(parts, compiled);
    const feeds = { ...tables, ...saved, [gradientName('y')]: dy };
    const outputs = await compiled.run(await layerFeeds(role, compiled, { feeds, first, count }));
    accumulate(gradientsOf(role, outputs, span));
    freeFeeds(saved, parts.at(-1)!, { dy });
    dy = outputs[gradientName('x')] as Tensor<'float32'>;
  }
  freeTensors(hidden);
  return base.deviceRows.mul(dy, mask);
}

/** Reports the keys and values of a session's layers. */
async function reportKeys(
  outputs: Feeds,
  { first, count }: LayerRange,
  report: NonNullable<ForwardOptions['onKeysAndValues']>,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    await report(first + i, keysAndValuesOf(outputs, layerPrefix(i, count)));
  }
}

/** The states that the rows of a batch start from, as the pass's own tensor; undefined for embeddings. */
async function statesOf(
  { deviceRows }: LayerRole['base'],
  start: LayerStates | undefined,
  { known, end }: { readonly known: number; readonly end: number },
): Promise<Tensor<'float32'> | undefined> {
  if (start === undefined || known === 0) return start?.hidden;
  const { hidden } = start;
  const rows = await deviceRows.slice(hidden, { start: known, end });
  freeTensors(hidden);
  return rows;
}

/** Whether one session runs the several layers of a role, with float32 weights: only of small models, and
 *  if all layers have an adapter or none has. */
export function runsInOneSession(role: LayerRole): boolean {
  const { base } = role;
  const isSingle = base.architecture.config.num_hidden_layers === 1;
  return !isSingle && base.bytes === undefined && layerSpans(role, {}).length === 1;
}

interface LayerRange {
  /** Index of the first layer. */
  readonly first: number;
  /** Number of layers in the session. */
  readonly count: number;
}

interface LayerSpan extends LayerRange {
  /** The adapter of these layers; missing if they have none. */
  readonly lora: LoraConfig | undefined;
  /** Whether gradients flow through these layers in training. */
  readonly isTrained: boolean;
}

/** Which layers each session runs: all its layers have an adapter, or none has. */
function layerSpans(
  role: LayerRole,
  { from = 0, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): LayerSpan[] {
  const { architecture, layersPerSession } = role.base;
  const end = to ?? architecture.config.num_hidden_layers;
  const frozen = frozenLayers(role);
  const spans: LayerSpan[] = [];
  for (let first = from; first < end; first += spans.at(-1)!.count) {
    const lora = loraOfLayer(role.adapter?.config, first);
    const isSame = (layer: number) =>
      (loraOfLayer(role.adapter?.config, layer) === undefined) === (lora === undefined);
    const most = Math.min(layersPerSession, end - first);
    let count = 1;
    while (count < most && isSame(first + count)) count++;
    spans.push({ first, count, lora, isTrained: first >= frozen });
  }
  return spans;
}

/** Whether training drops something in these layers: inputs of the adapter or, if there is none at all,
 *  outputs of sublayers. */
function dropsIn(role: LayerRole, { lora }: LayerSpan): boolean {
  return (role.adapter === undefined || lora !== undefined) && layerDropout(role) > 0;
}

/** The masks of a training pass in these layers. */
function spanMasks(
  role: LayerRole,
  span: LayerSpan,
  { rows, random }: { readonly rows: number; readonly random: RandomStream | undefined },
): { readonly dropout: boolean; readonly masks: Feeds } {
  if (random === undefined || !dropsIn(role, span)) return { dropout: false, masks: {} };
  const { first, count } = span;
  return { dropout: true, masks: layerMasks(role, { rows, first, count, random }) };
}

interface LayerForm extends BatchForm {
  readonly layers: number;
  readonly dropout: boolean;
  readonly cache: boolean;
}

interface CompileLayersOptions {
  readonly span: LayerSpan;
  readonly save: SaveList | undefined;
  readonly isBackward?: boolean;
  readonly checkNumerics?: boolean;
}

/** The session of some layers. A plain forward pass and a backward pass keep their memory between
 *  runs; a forward pass that saves returns most of it as outputs. */
function compileLayers(
  role: LayerRole,
  form: LayerForm,
  { span, save, isBackward = false, checkNumerics = false }: CompileLayersOptions,
): Promise<CompiledGraph> {
  const { base } = role;
  const { lora } = span;
  const formKey = JSON.stringify([form, lora]);
  const bytes = base.bytes?.format;
  const mergeLora = base.layersPerSession >= base.architecture.config.num_hidden_layers;
  const build = () => layerGraph(base.architecture, { lora, bytes, mergeLora, ...form });
  if (save === undefined) {
    const key = `layers ${checkNumerics ? 'checked ' : ''}${formKey}`;
    return base.compile(key, build, { arena: true, checkNumerics, keep: () => true });
  }
  const wrt = ['x', ...trainedNames(role, span)];
  const key = `${save} ${formKey} ${wrt.length}`;
  const graphs = (): GradGraphs =>
    base.once(`layer gradients ${key}`, () => grad(build(), { of: ['y'], wrt, save }));
  const pass = isBackward ? 'backward' : 'forward';
  return base.compile(`layers ${pass} ${key}`, () => graphs()[pass], {
    arena: isBackward,
    // Gradients of weights go to the optimiser.
    keep: (name) => !isBackward || name === gradientName('x'),
  });
}

/** The feeds of one session: tables of the batch, weights of its layers and the adapter. */
export async function layerFeeds(
  { base, adapter }: LayerRole,
  { inputs }: GraphInputs,
  { feeds: batchFeeds, first, count }: LayerRange & { readonly feeds: Feeds },
): Promise<Feeds> {
  const { names } = base.architecture.family;
  const feeds: Record<string, Tensor | Promise<Tensor>> = {};
  for (let i = 0; i < count; i++) {
    const prefix = layerPrefix(i, count);
    for (const name of Object.keys(inputs)) {
      if (batchFeeds[name] !== undefined) feeds[name] = batchFeeds[name];
      else if (name.startsWith(prefix)) {
        const fullName = `${names.layer(first + i)}${name.slice(prefix.length)}`;
        feeds[name] = adapter?.weights.get(fullName) ?? base.feed(fullName);
      }
    }
  }
  return base.settle(feeds);
}

/** Names of the trained weights in the layers of a session. */
export function trainedNames(role: LayerRole, span: LayerRange): string[] {
  const inLayer = trainedInLayer(role, span.first);
  return Array.from({ length: span.count }, (_, i) =>
    inLayer.map((name) => `${layerPrefix(i, span.count)}${name}`),
  ).flat();
}

/** Names of the trained weights of one layer, without its prefix. */
function trainedInLayer({ base, adapter }: LayerRole, layer: number): string[] {
  if (adapter === undefined) return [...layerParts(base.architecture).weights.keys()];
  const prefix = base.architecture.family.names.layer(layer);
  return [...adapter.weights.keys()]
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
}

/** The gradients of a session's layers under the full names of the trained weights. */
export function gradientsOf(
  role: LayerRole,
  outputs: Outputs,
  { first, count }: LayerRange,
): NamedArrays {
  const { names } = role.base.architecture.family;
  const gradients: Record<string, Float32Array> = {};
  const perLayer = trainedInLayer(role, first);
  for (let i = 0; i < count; i++) {
    for (const name of perLayer) {
      const output = outputs[gradientName(`${layerPrefix(i, count)}${name}`)]!;
      gradients[`${names.layer(first + i)}${name}`] = output.data as Float32Array;
    }
  }
  return gradients;
}

/** Keys and values of earlier passes as the feeds of a session. */
async function pastOf(
  { deviceRows }: LayerRole['base'],
  past: readonly Feeds[],
  { count, expected }: { readonly count: number; readonly expected: number },
): Promise<Feeds> {
  if (past.length < expected) {
    throw new Error('Internal: a pass over past rows must start at the first trained layer');
  }
  if (past.length === 0) return {};
  const feeds: Record<string, Tensor> = {};
  for (let i = 0; i < count; i++) {
    const prefix = layerPrefix(i, count);
    const parts = past.map((values) => keysAndValuesOf(values, prefix));
    feeds[`${prefix}past.k`] = await deviceRows.concat(parts.map(({ k }) => k));
    feeds[`${prefix}past.v`] = await deviceRows.concat(parts.map(({ v }) => v));
  }
  return feeds;
}

function keysAndValuesOf(values: Feeds, prefix: string): KeysAndValues {
  const [k, v] = [values[`${prefix}k`], values[`${prefix}v`]];
  return { k: k as Tensor<'float32'>, v: v as Tensor<'float32'> };
}

/** Concatenates what several passes saved, reusing the same host memory for every session. */
class PartJoiner {
  private readonly memory = new Map<string, Float32Array>();
  private readonly base: LayerRole['base'];

  constructor(base: LayerRole['base']) {
    this.base = base;
  }

  /** The values that a graph reads; those in host memory are valid until the next call. */
  async join(parts: readonly Feeds[], { inputs }: GraphInputs): Promise<Feeds> {
    if (parts.length === 1) return parts[0]!;
    const joined: Record<string, Tensor> = {};
    for (const name of Object.keys(parts[0]!)) {
      if (inputs[name] === undefined) continue;
      const values = parts.map((part) => part[name] as Tensor<'float32'>);
      const all = await this.base.deviceRows.concat(values, this.memory.get(name));
      if (isOnHost(all)) this.memory.set(name, all.data);
      joined[name] = all;
    }
    return joined;
  }
}

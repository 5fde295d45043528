import { type GradGraphs, grad, gradientName, type SaveList } from '../../engine/graph/index.ts';
import type { NamedArrays } from '../../engine/optim/index.ts';
import type { RandomStream } from '../../engine/random/index.ts';
import type {
  CompiledGraph,
  Feeds,
  GraphInputs,
  Outputs,
  Tensor,
} from '../../engine/runtime/index.ts';
import type { BaseModel, LayerRole } from './base-model.ts';
import type { BatchForm } from './batch-plan.ts';
import { embeddingMask, joinEmbeddingMasks, layerDropout, layerMasks } from './dropout-masks.ts';
import { layerGraph, layerParts, layerPrefix } from './layer-graph.ts';
import type { PackedBatch } from './packed-batch.ts';
import { concatRows, mulElements, sliceRows } from './rows.ts';

/** What a forward pass saves, reuses and reports. */
export interface ForwardOptions {
  /** Values to save for `backward` instead of recomputing them; without it there is no tape. Trains the
   *  adapter or, without one, the base. */
  readonly save?: SaveList | undefined;
  /** Passes over the first rows of the batch, in order: only the other rows are run. */
  readonly past?: readonly RowPass[];
  /** Receives the keys and values [M, kvHeads, D] of each layer. */
  readonly onKeysAndValues?: (layer: number, keysAndValues: KeysAndValues) => void;
  /** The source of dropout masks; nothing is dropped without it. Drops inputs of the adapter or, without
   *  one, embeddings and outputs of sublayers. */
  readonly dropout?: RandomStream | undefined;
  /** Debugging: throws at the first op that produces a NaN. */
  readonly checkNumerics?: boolean;
}

interface KeysAndValues {
  readonly k: Tensor<'float32'>;
  readonly v: Tensor<'float32'>;
}

/** What a forward pass computed. */
export interface Pass {
  readonly role: LayerRole;
  readonly batch: PackedBatch;
  /** Hidden states before the final norm, [M, hidden]. */
  readonly hidden: Tensor<'float32'>;
  /** Opaque to callers; empty unless something was saved. `backward` consumes it. */
  readonly tape: Tape;
}

/** Some rows of a pass, as `past` of another one. */
export interface RowPass {
  readonly hidden: Tensor<'float32'>;
  /** Per session: its input x, the saved values, keys and values. */
  readonly sessions: readonly Feeds[];
}

interface Tape {
  readonly save: SaveList | undefined;
  readonly dropout: boolean;
  /** Per session: the values of each pass over some of the rows, in row order. */
  readonly sessions: (readonly Feeds[])[];
}

/**
 * Runs a batch through all layers of a role. This is the only loop over layers: scoring, prefill,
 * training and debugging all call it. One ONNX Runtime session runs `base.layersPerSession` layers.
 */
export async function forward(
  role: LayerRole,
  batch: PackedBatch,
  options: ForwardOptions = {},
): Promise<Pass> {
  const { base } = role;
  const { save, past = [], onKeysAndValues, dropout: random, checkNumerics = false } = options;
  const known = past.reduce((sum, { hidden }) => sum + hidden.shape[0]!, 0);
  const { form, feeds: tables } = batch.plan(base.architecture.config, known);
  const dropout = random !== undefined && layerDropout(role) > 0;
  const cache = onKeysAndValues !== undefined;
  const [tokens, positions] = [batch.tokens.subarray(known), batch.positions.subarray(known)];
  const sessions: Feeds[][] = [];
  const embeddings = random ? embeddingMask(role, { rows: tokens.length, random }) : {};
  let x = mulElements(base.embed({ tokens, positions }), joinEmbeddingMasks([embeddings]));
  for (const { first, count } of layerSpans(base)) {
    const graph = { ...form, layers: count, dropout, cache };
    const compiled = await compileLayers(role, graph, { save, checkNumerics });
    const masks = dropout ? layerMasks(role, { rows: tokens.length, count, random }) : {};
    const pastFeeds = pastOf(
      past.map((pass) => pass.sessions[sessions.length]!),
      count,
    );
    const feeds = { ...tables, x, ...masks, ...pastFeeds };
    const { y, ...outputs } = await compiled.run(
      layerFeeds(role, compiled, { feeds, first, count }),
    );
    for (let i = 0; i < count && cache; i++) {
      onKeysAndValues(first + i, keysAndValuesOf(outputs, layerPrefix(i, count)));
    }
    const own =
      save === undefined ? {} : { x, ...masks, ...outputs, ...(first === 0 && embeddings) };
    sessions.push([...past.map((pass) => pass.sessions[sessions.length]!), own]);
    x = y as Tensor<'float32'>;
  }
  const hidden = concatRows([...past.map((pass) => pass.hidden), x]);
  return { role, batch, hidden, tape: { save, dropout, sessions } };
}

/**
 * Runs the backward pass through all layers from ∂L/∂hidden. Passes each session's gradients to `accumulate` and
 * returns ∂L/∂embeddings. The tape is consumed: its memory is released layer by layer.
 */
export async function backward(
  { role, batch, tape }: Pass,
  dHidden: Tensor<'float32'>,
  accumulate: (gradients: NamedArrays) => void,
): Promise<Tensor<'float32'>> {
  const { base } = role;
  const { save, dropout, sessions } = tape;
  if (save === undefined) throw new Error('Internal: backward() needs a pass with a tape');
  const { form, feeds: tables } = batch.plan(base.architecture.config);
  const joiner = new PartJoiner();
  const mask = joinEmbeddingMasks(sessions[0]!);
  let dy = dHidden;
  for (const { first, count } of layerSpans(base).reverse()) {
    const graph = { ...form, layers: count, dropout, cache: false };
    const compiled = await compileLayers(role, graph, { save, isBackward: true });
    const saved = joiner.join(sessions.pop()!, compiled);
    const feeds = { ...tables, ...saved, [gradientName('y')]: dy };
    const outputs = await compiled.run(layerFeeds(role, compiled, { feeds, first, count }));
    accumulate(gradientsOf(role, outputs, { first, count }));
    dy = outputs[gradientName('x')] as Tensor<'float32'>;
  }
  return mulElements(dy, mask);
}

/** The part of a pass that computed some consecutive rows; nothing is copied. */
export function passOfRows(
  { hidden, tape }: Pass,
  rows: { readonly start: number; readonly end: number },
): RowPass {
  const sliceFeeds = (feeds: Feeds): Feeds =>
    Object.fromEntries(
      Object.entries(feeds).map(([name, value]) => [
        name,
        sliceRows(value as Tensor<'float32'>, rows),
      ]),
    );
  return {
    hidden: sliceRows(hidden, rows),
    sessions: tape.sessions.map(([own]) => sliceFeeds(own!)),
  };
}

/** Whether one session runs all layers of a model: only of small ones. */
export function runsInOneSession({ architecture, layersPerSession }: BaseModel): boolean {
  return layersPerSession >= architecture.config.num_hidden_layers;
}

interface LayerSpan {
  /** Index of the first layer. */
  readonly first: number;
  /** Number of layers in the session. */
  readonly count: number;
}

/** Which layers each session runs. */
function layerSpans({ architecture, layersPerSession }: BaseModel): LayerSpan[] {
  const total = architecture.config.num_hidden_layers;
  const size = Math.min(layersPerSession, total);
  return Array.from({ length: Math.ceil(total / size) }, (_, k) => ({
    first: k * size,
    count: Math.min(size, total - k * size),
  }));
}

interface LayerForm extends BatchForm {
  readonly layers: number;
  readonly dropout: boolean;
  readonly cache: boolean;
}

interface CompileLayersOptions {
  readonly save: SaveList | undefined;
  readonly isBackward?: boolean;
  readonly checkNumerics?: boolean;
}

/** The session of some layers. A plain forward pass and a backward pass keep their memory between
 *  runs; a forward pass that saves returns most of it as outputs. */
function compileLayers(
  role: LayerRole,
  form: LayerForm,
  { save, isBackward = false, checkNumerics = false }: CompileLayersOptions,
): Promise<CompiledGraph> {
  const { base, adapter } = role;
  const formKey = JSON.stringify([form, adapter?.config]);
  const lora = adapter?.config;
  const mergeLora = runsInOneSession(base);
  const build = () => layerGraph(base.architecture, { lora, mergeLora, ...form });
  if (save === undefined) {
    const key = `layers ${checkNumerics ? 'checked ' : ''}${formKey}`;
    return base.compile(key, build, { arena: true, checkNumerics });
  }
  const wrt = ['x', ...trainedNames(role, form.layers)];
  const graphs = (): GradGraphs =>
    base.once(`layer gradients ${save} ${formKey}`, () => grad(build(), { of: ['y'], wrt, save }));
  const pass = isBackward ? 'backward' : 'forward';
  return base.compile(`layers ${pass} ${save} ${formKey}`, () => graphs()[pass], {
    arena: isBackward,
  });
}

/** The feeds of one session: tables of the batch, weights of its layers and the adapter. */
export function layerFeeds(
  { base, adapter }: LayerRole,
  { inputs }: GraphInputs,
  { feeds: batchFeeds, first, count }: LayerSpan & { readonly feeds: Feeds },
): Feeds {
  const { names } = base.architecture.family;
  const feeds: Record<string, Tensor> = {};
  for (let i = 0; i < count; i++) {
    const prefix = layerPrefix(i, count);
    for (const name of Object.keys(inputs)) {
      if (batchFeeds[name] !== undefined) feeds[name] = batchFeeds[name];
      else if (name.startsWith(prefix)) {
        const fullName = `${names.layer(first + i)}${name.slice(prefix.length)}`;
        feeds[name] = adapter?.weights.get(fullName) ?? base.weight(fullName);
      }
    }
  }
  return feeds;
}

/** Names of the trained weights in the layers of a session. */
export function trainedNames({ base, adapter }: LayerRole, count: number): string[] {
  const prefix = base.architecture.family.names.layer(0);
  const inLayer =
    adapter === undefined
      ? [...layerParts(base.architecture).weights.keys()]
      : [...adapter.weights.keys()]
          .filter((name) => name.startsWith(prefix))
          .map((name) => name.slice(prefix.length));
  return Array.from({ length: count }, (_, i) =>
    inLayer.map((name) => `${layerPrefix(i, count)}${name}`),
  ).flat();
}

/** The gradients of a session's layers under the full names of the trained weights. */
export function gradientsOf(
  role: LayerRole,
  outputs: Outputs,
  { first, count }: LayerSpan,
): NamedArrays {
  const { names } = role.base.architecture.family;
  const gradients: Record<string, Float32Array> = {};
  const perLayer = trainedNames(role, 1);
  for (let i = 0; i < count; i++) {
    for (const name of perLayer) {
      const output = outputs[gradientName(`${layerPrefix(i, count)}${name}`)]!;
      gradients[`${names.layer(first + i)}${name}`] = output.data as Float32Array;
    }
  }
  return gradients;
}

/** Keys and values of earlier passes as the feeds of a session. */
function pastOf(past: readonly Feeds[], count: number): Feeds {
  if (past.length === 0) return {};
  const feeds: Record<string, Tensor> = {};
  for (let i = 0; i < count; i++) {
    const prefix = layerPrefix(i, count);
    const parts = past.map((values) => keysAndValuesOf(values, prefix));
    feeds[`${prefix}past.k`] = concatRows(parts.map(({ k }) => k));
    feeds[`${prefix}past.v`] = concatRows(parts.map(({ v }) => v));
  }
  return feeds;
}

function keysAndValuesOf(values: Feeds, prefix: string): KeysAndValues {
  const [k, v] = [values[`${prefix}k`], values[`${prefix}v`]];
  return { k: k as Tensor<'float32'>, v: v as Tensor<'float32'> };
}

/** Concatenates what several passes saved, reusing the same memory for every session. */
class PartJoiner {
  private readonly memory = new Map<string, Float32Array>();

  /** The values that a graph reads; valid until the next call. */
  join(parts: readonly Feeds[], { inputs }: GraphInputs): Feeds {
    if (parts.length === 1) return parts[0]!;
    const names = Object.keys(parts[0]!).filter((name) => inputs[name] !== undefined);
    const joined = names.map((name) => {
      const values = parts.map((part) => part[name] as Tensor<'float32'>);
      const all = concatRows(values, this.memory.get(name));
      this.memory.set(name, all.data);
      return [name, all];
    });
    return Object.fromEntries(joined);
  }
}

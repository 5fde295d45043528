import type { AdapterBase, BaseFingerprint } from '../../base-setup/lora/base-fingerprint.ts';
import type { LoraAdapter, ModuleShapes } from '../../base-setup/lora/lora-adapter.ts';
import type { Graph } from '../../engine/graph/index.ts';
import {
  type Backend,
  backendOf,
  type CompiledGraph,
  type CompileOptions,
  compile,
  type Device,
  type Feeds,
  freeTensors,
  type GraphInputs,
  type Tensor,
  tensor,
  uploadTensor,
} from '../../engine/runtime/index.ts';
import type { ByteBase, WeightLayout } from './byte-weight.ts';
import { DeviceRows } from './device-rows.ts';
import type { Architecture } from './families/index.ts';
import { fingerprintModel } from './fingerprint-weights.ts';
import { logitsGraph } from './head-graph.ts';
import { byteWeights, fedWeights } from './module-context.ts';
import type { PackedBatch } from './packed-batch.ts';
import { countParameters } from './parameter-counts.ts';
import { takeRows } from './rows.ts';
import { runTokenHead, type TokenNumbers } from './token-head.ts';
import { moduleShapes } from './weight-shapes.ts';

/** Weights of a model by their Hugging Face names. */
export type Weights = ReadonlyMap<string, Tensor<'float32'>>;

/** Precision of a base's matrices: float32 numbers, or bytes with one scale per output. */
export type BasePrecision = 'f32' | 'int8';

/** How a base runs, and its name. */
export interface BaseModelOptions {
  /** Its matrices in bytes, if it has them instead of float32 numbers. */
  readonly bytes?: ByteBase | undefined;
  /** Of the float32 weights that its matrices were quantized from, if they were. */
  readonly quantizedFrom?: BaseFingerprint | undefined;
  /** Number of layers that one ONNX Runtime session runs; all for small models, 1 for others. */
  readonly layersPerSession?: number;
  /** Where the graphs run; `cpu` by default. */
  readonly device?: Device | Backend | undefined;
  /** Hub id or folder, for errors. */
  readonly name?: string | undefined;
}

/** All layers of a model run in one session if they have at most this many parameters, and so do forward
 *  and backward pass (docs/decisions/0015). Larger models compile one layer and run it for all. */
const ONE_SESSION_PARAMETERS = 8e6;

/**
 * A frozen model: one copy of its weights, shared by all graphs. Roles (policy, reference, value,
 * reward) are adapters and heads over it.
 */
export class BaseModel implements AdapterBase {
  readonly architecture: Architecture;
  /** All weights or, if the matrices are in bytes, all others. */
  readonly weights: Weights;
  /** The matrices in bytes; undefined if all weights are float32. */
  readonly bytes: ByteBase | undefined;
  /** Hub id or folder; undefined if the model was created in memory. */
  readonly name: string | undefined;
  /** Number of layers that one ONNX Runtime session runs. */
  readonly layersPerSession: number;
  /** Where the graphs of all roles run. */
  readonly backend: Backend;
  /** Rows of tensors, where the graphs run. */
  readonly deviceRows: DeviceRows;
  private readonly quantizedFrom: BaseFingerprint | undefined;
  /** Weights in the memory of a device, by name. */
  private readonly uploaded = new Map<string, Promise<Tensor>>();
  private readonly compiled = new Map<string, Promise<CompiledGraph>>();
  private readonly built = new Map<string, unknown>();

  constructor(
    architecture: Architecture,
    weights: Weights,
    {
      layersPerSession = defaultLayersPerSession(architecture),
      name,
      bytes,
      quantizedFrom,
      device = 'cpu',
    }: BaseModelOptions = {},
  ) {
    this.architecture = architecture;
    this.weights = weights;
    this.bytes = bytes;
    this.quantizedFrom = quantizedFrom;
    this.name = name;
    this.layersPerSession = layersPerSession;
    this.backend = backendOf(device);
    this.deviceRows = new DeviceRows(this);
  }

  /** [out, in] of every linear module of every layer, by full name. */
  modules(): ModuleShapes {
    return moduleShapes(this.architecture);
  }

  /** The precision of the matrices. The values of 8-bit ones may be held as float32 numbers. */
  get precision(): BasePrecision {
    return this.quantizedFrom === undefined ? 'f32' : 'int8';
  }

  /** What identifies this model in adapters that are trained over it. An 8-bit base is identified by the
   *  weights it was quantized from, so its adapters also fit those. */
  fingerprint(): BaseFingerprint {
    return this.quantizedFrom ?? fingerprintModel(this.architecture, this.weights);
  }

  /** Logits [rows, V] of some hidden states. */
  async logits(hidden: Tensor<'float32'>): Promise<Tensor<'float32'>> {
    const { bytes } = this;
    const source = () => (bytes === undefined ? fedWeights() : byteWeights(bytes.format));
    const head = await this.compile('logits', () => logitsGraph(this.architecture, source()));
    const { logits } = await head.run(await this.headFeeds(head, { x: hidden }));
    return logits as Tensor<'float32'>;
  }

  /** log π of a token after each hidden state, and the entropy there. */
  logprobs(
    hidden: Tensor<'float32'>,
    tokens: Int32Array,
    temperature = 1,
  ): Promise<Pick<TokenNumbers, 'logprobs' | 'entropies'>> {
    return runTokenHead(this, { hidden, tokens }, { temperature, gradients: 'none' });
  }

  /** A float32 weight by its Hugging Face name. */
  weight(name: string): Tensor<'float32'> {
    const weight = this.weights.get(name);
    if (weight === undefined) throw new Error(`Internal: the model has no weight "${name}"`);
    return weight;
  }

  /** What a graph is fed for an input of this name: a weight, or the bytes or scales of a block of one.
   *  On a device with its own memory, it is copied there on first use and shared by all graphs. */
  feed(name: string): Tensor | Promise<Tensor> {
    return this.onDevice(name, () => this.hostFeed(name));
  }

  /** A part of the weights on the device: copied on first use, or in host memory if it has no own. */
  onDevice(key: string, part: () => Tensor): Tensor | Promise<Tensor> {
    if (!this.backend.keepsTensors) return part();
    const uploaded = this.uploaded.get(key) ?? uploadTensor(part(), this.backend);
    this.uploaded.set(key, uploaded);
    return uploaded;
  }

  /** The same as `feed`, in host memory. */
  hostFeed(name: string): Tensor {
    const [, weight = '', part, block] = /^(.*)\.(bytes|scales)\.(\d+)$/.exec(name) ?? [];
    const found = this.bytes?.weights.get(weight)?.blocks[Number(block)];
    return found?.[part as keyof typeof found] ?? this.weight(name);
  }

  /** The values of a matrix, at any precision, in Hugging Face's layout. */
  values(name: string, layout: Pick<WeightLayout, 'transposed'> = {}): Float32Array {
    return this.bytes?.weights.get(name)?.dequantize(layout) ?? this.weight(name).data;
  }

  /** Rows of the embedding or the output head as float32, [ids.length, hidden]. */
  rows(name: string, ids: Int32Array): Float32Array {
    const bytes = this.bytes?.weights.get(name);
    return bytes?.rows(ids) ?? takeRows(this.weight(name), ids).data;
  }

  /** The name of the output head's weight: the embedding's if they are tied. */
  get headName(): string {
    const { family, config } = this.architecture;
    return config.tie_word_embeddings ? family.names.embedding : family.names.head;
  }

  /** Embeddings of the tokens, with learned positions if the family has them: [M, hidden]. */
  embed({ tokens, positions }: Pick<PackedBatch, 'tokens' | 'positions'>): Tensor<'float32'> {
    const { family, config } = this.architecture;
    const width = config.hidden_size;
    expectBelow(tokens, config.vocab_size, 'tokens must be below the vocabulary of');
    const x = this.rows(family.names.embedding, tokens);
    if (family.names.positions !== undefined) {
      const places = this.weight(family.names.positions).data;
      expectBelow(positions, config.max_position_embeddings, 'positions must be below');
      for (let m = 0; m < tokens.length; m++) {
        const from = positions[m]! * width;
        for (let i = 0; i < width; i++) x[m * width + i] = x[m * width + i]! + places[from + i]!;
      }
    }
    return tensor(x, [tokens.length, width]);
  }

  /** Builds something once for this model. */
  once<T>(key: string, build: () => T): T {
    if (!this.built.has(key)) this.built.set(key, build());
    return this.built.get(key) as T;
  }

  /** Compiles a graph once for this model and its device. */
  compile(key: string, build: () => Graph, options: CompileOptions = {}): Promise<CompiledGraph> {
    const compiled =
      this.compiled.get(key) ?? compile(build(), { ...options, device: this.backend });
    this.compiled.set(key, compiled);
    return compiled;
  }

  /** Frees every session of this model, and its weights on a device. */
  async dispose(): Promise<void> {
    for (const compiled of this.compiled.values()) await (await compiled).dispose();
    this.compiled.clear();
    for (const weight of this.uploaded.values()) freeTensors(await weight);
    this.uploaded.clear();
  }

  /** Feeds of a head graph: `shared`, and weights of the model for all other inputs. */
  async headFeeds({ inputs }: GraphInputs, shared: Feeds): Promise<Feeds> {
    const feeds: Record<string, Tensor | Promise<Tensor>> = {};
    for (const name of Object.keys(inputs)) {
      feeds[name] = shared[name] ?? this.feed(name === 'head.weight' ? this.headName : name);
    }
    return this.settle(feeds);
  }

  /** Waits until all feeds are on the device; on the host there is nothing to wait for. */
  async settle(feeds: Readonly<Record<string, Tensor | Promise<Tensor>>>): Promise<Feeds> {
    if (!this.backend.keepsTensors) return feeds as Feeds;
    const settled: Record<string, Tensor> = {};
    for (const [name, feed] of Object.entries(feeds)) settled[name] = await feed;
    return settled;
  }
}

function expectBelow(ids: Int32Array, end: number, rule: string): void {
  const wrong = ids.find((id) => id < 0 || id >= end);
  if (wrong === undefined) return;
  throw new RangeError(`Cannot embed the tokens: ${rule} ${end}, got ${wrong}`);
}

/** The layers of a role: the shared base and the adapter that makes the role differ from it. */
export interface LayerRole {
  readonly base: BaseModel;
  readonly adapter?: LoraAdapter | undefined;
}

/** Number of layers of a model that one session runs if nothing else is said. */
export function defaultLayersPerSession(architecture: Architecture): number {
  const { num_hidden_layers: layers } = architecture.config;
  const { perLayer } = countParameters(architecture);
  return layers * perLayer <= ONE_SESSION_PARAMETERS ? layers : 1;
}

import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { isTarget } from '../base-setup/lora/lora-config.ts';
import { type GradGraphs, grad, gradientName, type SaveList } from '../engine/graph/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import type { Feeds, Outputs, Tensor } from '../engine/runtime/index.ts';
import type { BatchForm } from '../models/decoder/batch-plan.ts';
import { layerParts } from '../models/decoder/layer-graph.ts';
import { dropoutName } from '../models/decoder/module-context.ts';
import { type BaseModel, layerGraph, type PackedBatch } from '../models/index.ts';
import { dropoutMask } from './dropout-mask.ts';
import { PartJoiner } from './join-rows.ts';

/** What a forward pass leaves for the backward pass. */
export interface Tape {
  /** Hidden states before the final norm, [M, hidden]. */
  readonly hidden: Tensor<'float32'>;
  readonly batch: PackedBatch;
  /** Of each layer: its input x, its dropout masks and the values on the save list; where several
   *  passes ran the rows, one part for each. */
  readonly layers: (readonly Feeds[])[];
  readonly dropout: boolean;
}

export interface LayerPassesOptions {
  readonly base: BaseModel;
  /** What is trained; without one, the base itself is. */
  readonly adapter?: LoraAdapter | undefined;
  /** What is kept for the backward pass instead of computed again. */
  readonly save: SaveList;
}

interface LayerForm extends BatchForm {
  readonly dropout: boolean;
  /** Whether keys and values are returned. */
  readonly cache: boolean;
}

export interface StepsOptions {
  /** Where dropout masks come from; without it nothing is dropped. */
  readonly random?: RandomStream | undefined;
  /** Whether keys and values are returned. */
  readonly cache?: boolean;
  /** Rows before this one are not run, but seen: 0 by default. */
  readonly known?: number;
  /** Their keys and values in a layer. */
  readonly past?: (index: number) => Feeds;
}

/** One layer of a forward pass. */
export interface LayerStep {
  readonly index: number;
  /** Its input x and its dropout masks. */
  readonly own: Feeds;
  /** y, the values on the save list, and k and v if they were asked for. */
  readonly outputs: Outputs;
}

/** Forward and backward passes through all layers, with gradients for an adapter or for the base. */
export class LayerPasses {
  private readonly options: LayerPassesOptions;
  private readonly graphs = new Map<string, GradGraphs>();

  constructor(options: LayerPassesOptions) {
    this.options = options;
  }

  /** @param random where dropout masks come from; without it nothing is dropped */
  async forward(batch: PackedBatch, random?: RandomStream): Promise<Tape> {
    const layers: Feeds[][] = [];
    let hidden: Tensor<'float32'> | undefined;
    for await (const { own, outputs } of this.steps(batch, { random })) {
      const { y, ...saved } = outputs;
      layers.push([{ ...own, ...saved }]);
      hidden = y as Tensor<'float32'>;
    }
    return { hidden: hidden!, batch, layers, dropout: this.drops(random) };
  }

  /** Runs the layers one after another. */
  async *steps(
    batch: PackedBatch,
    { random, cache = false, known = 0, past }: StepsOptions,
  ): AsyncGenerator<LayerStep> {
    const { base, adapter } = this.options;
    const { config } = base.architecture;
    const dropout = this.drops(random);
    const { form, feeds } = batch.plan(config, known);
    const layer = await this.compile('forward', { ...form, dropout, cache });
    const [tokens, positions] = [batch.tokens.subarray(known), batch.positions.subarray(known)];
    let x = base.embed({ tokens, positions });
    for (let index = 0; index < config.num_hidden_layers; index++) {
      const own = { x, ...(dropout && this.dropoutMasks(tokens.length, random!)) };
      const given = { ...feeds, ...own, ...past?.(index) };
      const outputs = await layer.run(base.layerFeeds(layer, given, { index, adapter }));
      yield { index, own, outputs };
      x = outputs.y as Tensor<'float32'>;
    }
  }

  /** Walks back from the gradient of the hidden states; each layer's gradients go to `take`. Gives
   *  the gradient of the embeddings. The tape is used up: values are freed once they are done with. */
  async backward(
    { batch, layers, dropout }: Tape,
    dHidden: Tensor<'float32'>,
    take: (gradients: NamedArrays) => void,
  ): Promise<Tensor<'float32'>> {
    const { base, adapter } = this.options;
    const { form, feeds: shared } = batch.plan(base.architecture.config);
    const layer = await this.compile('backward', { ...form, dropout, cache: false });
    const joiner = new PartJoiner();
    let dy = dHidden;
    for (let index = layers.length - 1; index >= 0; index--) {
      const tape = joiner.join(layers.pop()!, layer);
      const given = { ...shared, ...tape, [gradientName('y')]: dy };
      const outputs = await layer.run(base.layerFeeds(layer, given, { index, adapter }));
      take(this.gradientsOf(outputs, index));
      dy = outputs[gradientName('x')] as Tensor<'float32'>;
    }
    return dy;
  }

  private drops(random: RandomStream | undefined): boolean {
    return random !== undefined && (this.options.adapter?.config.lora_dropout ?? 0) > 0;
  }

  /** A mask for each adapted module of a layer. */
  private dropoutMasks(rows: number, random: RandomStream): Feeds {
    const { base, adapter } = this.options;
    const rate = adapter?.config.lora_dropout ?? 0;
    const masks = [...layerParts(base.architecture).modules]
      .filter(([module]) => isTarget(module, adapter?.config))
      .map(([module, [, width]]) => [
        dropoutName(module),
        dropoutMask([rows, width], { rate, random }),
      ]);
    return Object.fromEntries(masks);
  }

  /** A layer's gradients under the full names of what is trained. */
  private gradientsOf(outputs: Outputs, index: number): NamedArrays {
    const prefix = this.options.base.architecture.family.names.layer(index);
    const gradients = this.trainedNames().map((name) => [
      `${prefix}${name}`,
      outputs[gradientName(name)]!.data as Float32Array,
    ]);
    return Object.fromEntries(gradients);
  }

  /** What is trained in one layer; it has the same names in each. */
  private trainedNames(): string[] {
    const { base, adapter } = this.options;
    if (adapter === undefined) return [...layerParts(base.architecture).weights.keys()];
    const prefix = base.architecture.family.names.layer(0);
    return [...adapter.weights.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
  }

  private compile(pass: 'forward' | 'backward', form: LayerForm) {
    const { base, adapter, save } = this.options;
    const key = `layer ${pass} ${save} ${JSON.stringify([form, adapter?.config])}`;
    const options = { arena: pass === 'backward' };
    return base.compile(key, () => this.gradGraphs(form)[pass], options);
  }

  private gradGraphs(form: LayerForm): GradGraphs {
    const { base, adapter, save } = this.options;
    const key = JSON.stringify(form);
    const made = this.graphs.get(key);
    if (made !== undefined) return made;
    const graph = layerGraph(base.architecture, { lora: adapter?.config, ...form });
    const graphs = grad(graph, { of: ['y'], wrt: ['x', ...this.trainedNames()], save });
    this.graphs.set(key, graphs);
    return graphs;
  }
}

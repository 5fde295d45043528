import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { type GradGraphs, grad, gradientName, type SaveList } from '../engine/graph/index.ts';
import type { NamedArrays } from '../engine/optim/index.ts';
import type { Feeds, Outputs, Tensor } from '../engine/runtime/index.ts';
import { type BaseModel, layerGraph, type PackedBatch } from '../models/index.ts';

/** What a forward pass leaves for the backward pass. */
export interface Tape {
  /** Hidden states before the final norm, [M, hidden]. */
  readonly hidden: Tensor<'float32'>;
  readonly batch: PackedBatch;
  /** Of each layer: its input x and the values on the save list. */
  readonly layers: Feeds[];
}

export interface LayerPassesOptions {
  readonly base: BaseModel;
  readonly adapter: LoraAdapter;
  /** What is kept for the backward pass instead of computed again. */
  readonly save: SaveList;
}

/** Forward and backward passes through all layers: gradients for the adapter alone, the base is frozen. */
export class LayerPasses {
  private readonly options: LayerPassesOptions;
  private readonly graphs = new Map<number, GradGraphs>();

  constructor(options: LayerPassesOptions) {
    this.options = options;
  }

  async forward(batch: PackedBatch): Promise<Tape> {
    const { base, adapter } = this.options;
    const { config } = base.architecture;
    const layer = await this.compile('forward', batch.stripes);
    const shared = batch.feeds(config);
    const layers: Feeds[] = [];
    let x = base.embed(batch);
    for (let index = 0; index < config.num_hidden_layers; index++) {
      const feeds = base.layerFeeds(layer, { ...shared, x }, { index, adapter });
      const { y, ...saved } = await layer.run(feeds);
      layers.push({ x, ...saved });
      x = y as Tensor<'float32'>;
    }
    return { hidden: x, batch, layers };
  }

  /** Walks back from the gradient of the hidden states; each layer's gradients go to `take`.
   *  The tape is used up: a layer's values are freed once they are done with. */
  async backward(
    { batch, layers }: Tape,
    dHidden: Tensor<'float32'>,
    take: (gradients: NamedArrays) => void,
  ): Promise<void> {
    const { base, adapter } = this.options;
    const layer = await this.compile('backward', batch.stripes);
    const shared = batch.feeds(base.architecture.config);
    let dy: Tensor = dHidden;
    for (let index = layers.length - 1; index >= 0; index--) {
      const given = { ...shared, ...layers.pop(), [gradientName('y')]: dy };
      const outputs = await layer.run(base.layerFeeds(layer, given, { index, adapter }));
      take(this.adapterGradients(outputs, index));
      dy = outputs[gradientName('x')]!;
    }
  }

  /** A layer's gradients under the full names of the adapter's weights. */
  private adapterGradients(outputs: Outputs, index: number): NamedArrays {
    const prefix = this.options.base.architecture.family.names.layer(index);
    const gradients = this.trainedNames().map((name) => [
      `${prefix}${name}`,
      outputs[gradientName(name)]!.data as Float32Array,
    ]);
    return Object.fromEntries(gradients);
  }

  /** The adapter's weights in one layer; they have the same names in each. */
  private trainedNames(): string[] {
    const { base, adapter } = this.options;
    const prefix = base.architecture.family.names.layer(0);
    return [...adapter.weights.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
  }

  private compile(pass: 'forward' | 'backward', stripes: number) {
    const { base, adapter, save } = this.options;
    const key = `layer ${pass} ${save} ${stripes} ${JSON.stringify(adapter.config)}`;
    return base.compile(key, () => this.gradGraphs(stripes)[pass]);
  }

  private gradGraphs(stripes: number): GradGraphs {
    const { base, adapter, save } = this.options;
    const made = this.graphs.get(stripes);
    if (made !== undefined) return made;
    const graph = layerGraph(base.architecture, { lora: adapter.config, stripes });
    const graphs = grad(graph, { of: ['y'], wrt: ['x', ...this.trainedNames()], save });
    this.graphs.set(stripes, graphs);
    return graphs;
  }
}

import type { Feeds, Tensor } from '../engine/runtime/index.ts';
import type { LayerRun, PackedBatch } from '../models/index.ts';
import { joinRows, rowsOf } from './join-rows.ts';
import type { LayerPasses, Tape } from './layer-passes.ts';

/** What a pass left of one prompt. */
interface PromptTape {
  /** Of each layer: x, the values on the save list, k and v. */
  readonly layers: readonly Feeds[];
  readonly hidden: Tensor<'float32'>;
}

/**
 * Passes over prompts that a rollout and the update after it have in common: the rollout needs keys and
 * values, the update needs the tape, and the weights are the same. What follows a known prompt is run
 * alone.
 */
export class PromptPasses {
  private readonly layers: LayerPasses;
  private readonly known = new Map<string, PromptTape>();

  constructor(layers: LayerPasses) {
    this.layers = layers;
  }

  /** Runs prompts, layer by layer, and keeps what they leave until `clear`. */
  async *run(batch: PackedBatch): AsyncGenerator<LayerRun> {
    const kept: Feeds[] = [];
    let hidden: Tensor<'float32'> | undefined;
    for await (const { index, own, outputs } of this.layers.steps(batch, { cache: true })) {
      const { y, ...others } = outputs;
      kept.push({ ...own, ...others });
      hidden = y as Tensor<'float32'>;
      yield { index, outputs };
    }
    for (const places of batch.rows) {
      const rows = { start: places[0]!, end: places.at(-1)! + 1 };
      const tokens = batch.tokens.subarray(rows.start, rows.end);
      const layers = kept.map((layer) => mapValues(layer, (value) => rowsOf(value, rows)));
      this.known.set(tokens.join(), { layers, hidden: rowsOf(hidden!, rows) });
    }
  }

  /** The tape of prompts and responses, of which only the responses are run; undefined if a prompt is
   *  not known. Rows of the prompts come first in the batch, in this order. */
  async continue(batch: PackedBatch, prompts: readonly Int32Array[]): Promise<Tape | undefined> {
    const known = prompts.map((tokens) => this.known.get(tokens.join()));
    if (known.length === 0 || !known.every((prompt) => prompt !== undefined)) return undefined;
    const rows = prompts.reduce((sum, { length }) => sum + length, 0);
    const past = (index: number) => {
      const parts = known.map(({ layers }) => layers[index]!);
      return { 'past.k': joinOf(parts, 'k'), 'past.v': joinOf(parts, 'v') };
    };
    const layers: Feeds[][] = [];
    let hidden: Tensor<'float32'> | undefined;
    for await (const { index, own, outputs } of this.layers.steps(batch, { known: rows, past })) {
      const { y, ...saved } = outputs;
      layers.push([...known.map((prompt) => prompt.layers[index]!), { ...own, ...saved }]);
      hidden = y as Tensor<'float32'>;
    }
    const all = joinRows([...known.map((prompt) => prompt.hidden), hidden!]);
    return { hidden: all, batch, layers, dropout: false };
  }

  /** To be called when the weights change. */
  clear(): void {
    this.known.clear();
  }
}

function joinOf(parts: readonly Feeds[], name: string): Tensor<'float32'> {
  return joinRows(parts.map((part) => part[name] as Tensor<'float32'>));
}

function mapValues(feeds: Feeds, map: (value: Tensor<'float32'>) => Tensor): Feeds {
  const mapped = Object.entries(feeds).map(([name, value]) => [
    name,
    map(value as Tensor<'float32'>),
  ]);
  return Object.fromEntries(mapped);
}

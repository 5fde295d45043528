import { firstAdaptedLayer, type LoraConfig, loraOfLayer } from '../base-setup/lora/lora-config.ts';
import { type Dim, evaluateDim } from '../engine/graph/dim.ts';
import { grad, type SaveList, sizeOf } from '../engine/graph/index.ts';
import { planBlocks } from '../models/decoder/attention-blocks.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import { layerGraph } from '../models/decoder/layer-graph.ts';
import { consecutiveRows } from '../models/decoder/row-layout.ts';

export interface TokenShape {
  /** Sequences, all of the same length. */
  readonly batch: number;
  readonly length: number;
}

interface SavedValue {
  readonly elements: Dim;
  readonly bytes: number;
}

/** Creates a function that returns the bytes that one layer saves for its backward pass: its input
 *  and the values of the save list. */
export function activationMeter(
  architecture: Architecture,
  options: { readonly lora: LoraConfig; readonly save: SaveList },
): (tokens: TokenShape) => number {
  const byBlocks = new Map<number, SavedValue[]>();
  return (tokens) => {
    const { sizes, blocks } = sizesOf(architecture, tokens);
    const values = byBlocks.get(blocks) ?? savedValues(architecture, { ...options, blocks });
    byBlocks.set(blocks, values);
    return values.reduce(
      (sum, { elements, bytes }) => sum + bytes * evaluateDim(elements, (name) => sizes[name]!),
      0,
    );
  };
}

function savedValues(
  architecture: Architecture,
  { lora, save, blocks }: { lora: LoraConfig; save: SaveList; blocks: number },
): SavedValue[] {
  const graph = layerGraph(architecture, {
    lora: loraOfLayer(lora, firstAdaptedLayer(lora)),
    blocks,
  });
  const trained = Object.keys(graph.inputs).filter((name) => name.includes('.lora_'));
  const { forward } = grad(graph, { of: ['y'], wrt: ['x', ...trained], save });
  const saved = Object.entries(forward.outputs).filter(([name]) => name.startsWith('saved('));
  return [graph.inputs.x!, ...saved.map(([, value]) => value)].map(({ dtype, shape }) => ({
    elements: sizeOf(shape),
    bytes: dtype === 'bool' ? 1 : 4,
  }));
}

/** The blocks of a layer graph for some tokens, and its sizes by their symbols. */
function sizesOf(
  { config }: Architecture,
  { batch, length }: TokenShape,
): { readonly sizes: Readonly<Record<string, number>>; readonly blocks: number } {
  const rows = consecutiveRows(Array.from({ length: batch }, () => length));
  const width = config.num_attention_heads * config.head_dim;
  const sizes: Record<string, number> = { M: batch * length };
  const blocks = planBlocks(rows, { width });
  for (const [i, { spans, queries, keys }] of blocks.entries()) {
    Object.assign(sizes, { [`B${i}`]: spans.length, [`T${i}`]: queries, [`S${i}`]: keys });
  }
  return { sizes, blocks: blocks.length };
}

/** Number of bytes that one layer saves for the backward pass over some tokens. */
export function layerActivationBytes(
  architecture: Architecture,
  { lora, save, tokens }: { lora: LoraConfig; save: SaveList; tokens: TokenShape },
): number {
  return activationMeter(architecture, { lora, save })(tokens);
}

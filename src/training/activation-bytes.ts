import type { LoraConfig } from '../base-setup/lora/lora-config.ts';
import { evaluateDim } from '../engine/graph/dim.ts';
import { grad, type SaveList, sizeOf } from '../engine/graph/index.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import { layerGraph } from '../models/decoder/layer-graph.ts';

export interface TokenShape {
  /** Sequences, all of the same length. */
  readonly batch: number;
  readonly length: number;
}

/** Gives the bytes that one layer keeps for its backward pass: its input, and what the save list
 *  says. */
export function activationMeter(
  architecture: Architecture,
  { lora, save }: { lora: LoraConfig; save: SaveList },
): (tokens: TokenShape) => number {
  const graph = layerGraph(architecture, { lora });
  const trained = Object.keys(graph.inputs).filter((name) => name.includes('.lora_'));
  const { forward } = grad(graph, { of: ['y'], wrt: ['x', ...trained], save });
  const saved = Object.entries(forward.outputs).filter(([name]) => name.startsWith('saved('));
  const kept = [graph.inputs.x!, ...saved.map(([, value]) => value)].map(({ dtype, shape }) => ({
    elements: sizeOf(shape),
    bytes: dtype === 'bool' ? 1 : 4,
  }));
  return ({ batch, length }) => {
    const sizes: Readonly<Record<string, number>> = { B: batch, T0: length, M: batch * length };
    return kept.reduce(
      (sum, { elements, bytes }) => sum + bytes * evaluateDim(elements, (name) => sizes[name]!),
      0,
    );
  };
}

/** Bytes that one layer keeps for its backward pass of some tokens. */
export function layerActivationBytes(
  architecture: Architecture,
  { lora, save, tokens }: { lora: LoraConfig; save: SaveList; tokens: TokenShape },
): number {
  return activationMeter(architecture, { lora, save })(tokens);
}

import type { LoraConfig } from '../../base-setup/lora/lora-config.ts';
import { evaluateDim } from '../../engine/graph/dim.ts';
import { grad, type SaveList, sizeOf } from '../../engine/graph/index.ts';
import type { Architecture } from '../../models/decoder/families/index.ts';
import { layerGraph } from '../../models/decoder/layer-graph.ts';

export interface TokenShape {
  /** Sequences, all of the same length. */
  readonly batch: number;
  readonly length: number;
}

/** Bytes that one layer keeps for its backward pass: its input, and what the save list says. */
export function layerActivationBytes(
  architecture: Architecture,
  { lora, save, tokens }: { lora: LoraConfig; save: SaveList; tokens: TokenShape },
): number {
  const graph = layerGraph(architecture, { lora });
  const trained = Object.keys(graph.inputs).filter((name) => name.includes('.lora_'));
  const { forward } = grad(graph, { of: ['y'], wrt: ['x', ...trained], save });
  const saved = Object.entries(forward.outputs).filter(([name]) => name.startsWith('saved('));
  const sizes: Readonly<Record<string, number>> = {
    B: tokens.batch,
    T0: tokens.length,
    M: tokens.batch * tokens.length,
  };
  const kept = [graph.inputs.x!, ...saved.map(([, value]) => value)];
  return kept.reduce((bytes, { dtype, shape }) => {
    const elements = evaluateDim(sizeOf(shape), (symbol) => sizes[symbol]!);
    return bytes + elements * (dtype === 'bool' ? 1 : 4);
  }, 0);
}

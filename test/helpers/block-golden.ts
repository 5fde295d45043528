import type { LoraConfig } from '../../src/base-setup/lora/lora-config.ts';
import type { Graph } from '../../src/engine/graph/index.ts';
import type { Tensor } from '../../src/engine/runtime/index.ts';
import { type BatchForm, type BatchPlan, planBatch } from '../../src/models/decoder/batch-plan.ts';
import { readArchitecture } from '../../src/models/decoder/families/index.ts';
import { layerGraph } from '../../src/models/decoder/layer-graph.ts';
import { consecutiveRows } from '../../src/models/decoder/row-layout.ts';
import { readSafetensors } from './runtime-safetensors.ts';

export type Tensors = Readonly<Record<string, Tensor>>;

/** Sizes of the layer, as in its config.json. */
interface BlockConfig {
  readonly hidden_size: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
}

interface BlockGolden {
  readonly config: BlockConfig;
  readonly lora: LoraConfig;
  readonly lengths: readonly number[];
  /** Inputs, weights, y, d(y) and the gradients, by their names in the graph. */
  readonly tensors: Readonly<Record<string, Tensor<'float32'>>>;
}

/** A Qwen3 decoder layer of transformers with LoRA of PEFT, by tools/oracle/models/make_block_golden.py. */
export function readBlockGolden(): BlockGolden {
  const file = new URL('../fixtures/models/qwen3-block.safetensors', import.meta.url);
  const { about, tensors } = readSafetensors(file);
  return { ...JSON.parse(about), tensors };
}

/** The layout of sequences of these lengths, with attention in this many blocks. */
export function layoutOf(config: BlockConfig, lengths: readonly number[], pieces = 1): BatchPlan {
  const rows = consecutiveRows(lengths);
  const positions = Int32Array.from(lengths.flatMap((length) => [...Array(length).keys()]));
  const blocks = Array.from({ length: pieces }, (_, piece) => {
    const spans = lengths.map((length, sequence) => {
      const edge = (i: number) => Math.round((i * length) / pieces);
      return { sequence, start: edge(piece), end: edge(piece + 1) };
    });
    const queries = Math.max(...spans.map(({ start, end }) => end - start));
    return { spans, queries, keys: Math.max(...spans.map(({ end }) => end)) };
  });
  const architecture = goldenArchitecture(config);
  return planBatch({ rows, positions, blocks, known: 0 }, architecture.config);
}

/** Attention bias and index tables for sequences of these lengths. */
export function layoutFeeds(config: BlockConfig, lengths: readonly number[], pieces = 1): Tensors {
  const { cos, sin, ...feeds } = layoutOf(config, lengths, pieces).feeds;
  return feeds;
}

/** The graph of the golden's layer. */
export function buildLayer(
  config: BlockConfig,
  lora?: LoraConfig,
  form: Partial<BatchForm> = {},
): Graph {
  return layerGraph(goldenArchitecture(config), { lora, ...form });
}

export function goldenArchitecture(config: BlockConfig) {
  return readArchitecture({
    ...config,
    model_type: 'qwen3',
    vocab_size: 1,
    num_hidden_layers: 1,
  });
}

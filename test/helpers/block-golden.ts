import type { LoraConfig } from '../../src/base-setup/lora/lora-config.ts';
import type { Graph } from '../../src/engine/graph/index.ts';
import type { Tensor } from '../../src/engine/runtime/index.ts';
import { tensor } from '../../src/engine/runtime/index.ts';
import { readArchitecture } from '../../src/models/decoder/families/index.ts';
import { layerGraph } from '../../src/models/decoder/layer-graph.ts';
import {
  causalBias,
  consecutiveRows,
  cutStripes,
  packingTables,
  realPlaces,
} from '../../src/models/decoder/packing.ts';
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

/** Attention bias and index tables for sequences of these lengths. */
export function layoutFeeds(config: BlockConfig, lengths: readonly number[], stripes = 1): Tensors {
  const batch = lengths.length;
  const longest = Math.max(...lengths);
  const total = lengths.reduce((a, b) => a + b);
  const padded = { rows: consecutiveRows(lengths), length: longest };
  const tables = (name: string, heads: number) => {
    const { unpack, pack } = packingTables(padded, heads);
    return {
      [`unpack.${name}`]: tensor(unpack, [batch, heads, longest]),
      [`pack.${name}`]: tensor(pack, [total, heads]),
    };
  };
  const biases = Object.fromEntries(
    cutStripes(longest, stripes).map((stripe, i) => [
      `bias.${i}`,
      tensor(causalBias(stripe), [stripe.end - stripe.start, stripe.end]),
    ]),
  );
  return {
    ...biases,
    real: tensor(realPlaces(padded), [batch, 1, longest, 1]),
    ...tables('q', config.num_attention_heads),
    ...tables('kv', config.num_key_value_heads),
  };
}

/** The graph of the golden's layer. */
export function buildLayer(config: BlockConfig, lora?: LoraConfig, stripes = 1): Graph {
  return layerGraph(goldenArchitecture(config), { lora, stripes });
}

export function goldenArchitecture(config: BlockConfig) {
  return readArchitecture({
    ...config,
    model_type: 'qwen3',
    vocab_size: 1,
    num_hidden_layers: 1,
  });
}

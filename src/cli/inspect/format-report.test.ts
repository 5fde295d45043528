import { expect, test } from 'vitest';
import { readArchitecture } from '../../models/decoder/families/index.ts';
import { countParameters } from '../../models/decoder/parameter-counts.ts';
import { formatReport } from './format-report.ts';
import { formatTable } from './format-table.ts';
import { estimateMemory } from './memory-estimate.ts';

/** Llama 3.2's shape, made small. */
const architecture = readArchitecture({
  model_type: 'llama',
  vocab_size: 1000,
  hidden_size: 64,
  intermediate_size: 256,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 131_072,
  rope_theta: 500_000,
  rope_scaling: {
    rope_type: 'llama3',
    factor: 32,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  },
});

test('formatReport() prints aligned tables', () => {
  const parameters = countParameters(architecture);
  const report = {
    model: 'owner/tiny',
    folder: '/cache/tiny',
    architecture: architecture.config,
    parameters,
    files: [
      { name: 'model-00001-of-00002.safetensors', bytes: 300_000, dtypes: { BF16: 300_000 } },
      { name: 'model-00002-of-00002.safetensors', bytes: 5000, dtypes: { BF16: 4000, F32: 1000 } },
    ],
    memory: estimateMemory(architecture, parameters),
  };
  const output = { write: () => true };
  expect(formatReport(report, output)).toMatchInlineSnapshot(`
    "owner/tiny
    /cache/tiny

    Architecture
      family       llama
      layers       2
      hidden size  64
      MLP size     256
      heads        4 of queries, 2 of keys and values, 16 wide
      vocabulary   1,000 tokens
      output head  a matrix of its own
      context      131,072 tokens
      positions    rotary, theta 500,000, llama3 scaling by 32

    Parameters
      total                      251 k
      embedding                 64.0 k  25.48 %
      output head               64.0 k  25.48 %
      each layer                61.6 k  × 2
      LoRA r=16 on q, k, v, o   14.3 k  5.71 % of all
      LoRA r=16 on all linears  45.1 k  17.94 % of all

    Files
      model-00001-of-00002.safetensors   300 kB  BF16
      model-00002-of-00002.safetensors  5.00 kB  BF16, F32
      together                           305 kB

    Memory of the models, in float32
                    weights  gradients  optimiser  together
      base, shared  1.00 MB          –          –   1.00 MB
      reference           –          –          –         –
      policy        57.3 kB    57.3 kB     115 kB    229 kB
      value         57.6 kB    57.6 kB     115 kB    230 kB
      reward        57.6 kB          –          –   57.6 kB

    Memory of generation
      engine, f32        749 kB  a packed copy, exact
      engine, f32-feeds       –  the base itself
      engine, int8       198 kB  inexact, the fastest
      keys and values     512 B  for each token
                         131 kB  for each text of 256 tokens

    Memory of training on 1,024 tokens
      save: none        524 kB  keeps the layers' inputs
      save: matmul     7.34 MB  and products with weights, the default
      save: all        18.9 MB  and all that gradients use
      a layer at work  9.44 MB  whatever is saved
      logits           8.19 MB  in parts, with their gradient

    A PPO run with 4 texts of 256 tokens, in all
      rollouts in          f32  f32-feeds    int8
      while generating  203 MB     202 MB  203 MB
      while training    224 MB     223 MB  227 MB
      With what Node and ONNX Runtime take themselves; train --dry-run foresees a run of your own."
  `);
});

test('formatTable() aligns columns to the left or right', () => {
  const rows = [
    ['a', '1', 'x'],
    ['bc', '23', ''],
  ];
  expect(formatTable(rows, 'lrl')).toBe('  a    1  x\n  bc  23');
});

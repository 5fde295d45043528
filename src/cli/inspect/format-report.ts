import type { DecoderConfig } from '../../models/decoder/decoder-config.ts';
import { loraConfigs, type ParameterCounts } from '../../models/decoder/parameter-counts.ts';
import { bold, type Output } from '../terminal.ts';
import { formatBytes, formatCount, formatWhole } from '../units.ts';
import { formatTable } from './format-table.ts';
import type { MemoryEstimate } from './memory-estimate.ts';
import type { ModelReport, WeightFile } from './model-report.ts';

/** A report as text for people. */
export function formatReport(report: ModelReport, output: Output): string {
  const { model, folder, architecture, parameters, files, memory } = report;
  const { sequences, sequenceLength, tokens } = memory.ppo;
  const sections: readonly (readonly [string, string])[] = [
    [`${model}`, folder === model ? '' : folder],
    ['Architecture', formatArchitecture(architecture)],
    ['Parameters', formatParameters(parameters, architecture.num_hidden_layers)],
    ['Files', formatFiles(files)],
    ['Memory of the models, in float32', formatRoles(memory)],
    ['Memory of generation', formatGeneration(memory)],
    [`Memory of training on ${formatWhole(tokens)} tokens`, formatTraining(memory)],
    [
      `A PPO run with ${sequences} texts of ${sequenceLength} tokens, in all`,
      formatPpo(memory.ppo),
    ],
  ];
  return sections.map(([title, body]) => `${bold(title, output)}\n${body}`.trimEnd()).join('\n\n');
}

function formatArchitecture(config: DecoderConfig): string {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim } = config;
  const counts =
    kvHeads === heads ? `${heads}` : `${heads} of queries, ${kvHeads} of keys and values`;
  const tied = config.tie_word_embeddings ? 'the embedding, tied' : 'a matrix of its own';
  return formatTable([
    ['family', config.model_type],
    ['layers', formatWhole(config.num_hidden_layers)],
    ['hidden size', formatWhole(config.hidden_size)],
    ['MLP size', formatWhole(config.intermediate_size)],
    ['heads', `${counts}, ${head_dim} wide`],
    ['vocabulary', `${formatWhole(config.vocab_size)} tokens`],
    ['output head', tied],
    ['context', `${formatWhole(config.max_position_embeddings)} tokens`],
    ['positions', describePositions(config.rope)],
  ]);
}

function describePositions(rope: DecoderConfig['rope']): string {
  if (rope === undefined) return 'learned';
  const { rope_type: type, rope_theta, factor } = rope;
  const scaling = type === 'default' ? '' : `, ${type} scaling by ${factor}`;
  return `rotary, theta ${formatWhole(rope_theta)}${scaling}`;
}

function formatParameters(counts: ParameterCounts, layers: number): string {
  const share = (count: number) => `${((100 * count) / counts.total).toFixed(2)} %`;
  const row = (name: string, count: number, note = '') => [name, formatCount(count), note];
  const lora = (name: string, count: number) =>
    row(`LoRA r=${loraConfigs.attention.r} on ${name}`, count, `${share(count)} of all`);
  return formatTable(
    [
      row('total', counts.total),
      row('embedding', counts.embedding, share(counts.embedding)),
      ...(counts.head === 0 ? [] : [row('output head', counts.head, share(counts.head))]),
      row('each layer', counts.perLayer, `× ${layers}`),
      lora('q, k, v, o', counts.lora.attention),
      lora('all linears', counts.lora.allLinear),
    ],
    'lrl',
  );
}

function formatFiles(files: readonly WeightFile[]): string {
  const rows = files.map(({ name, bytes, dtypes }) => [
    name,
    formatBytes(bytes),
    Object.keys(dtypes).join(', '),
  ]);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return formatTable(
    rows.length > 1 ? [...rows, ['together', formatBytes(bytes), '']] : rows,
    'lrl',
  );
}

function formatRoles({ base, roles }: MemoryEstimate): string {
  const rows = Object.entries(roles).map(([name, { weights, gradients, optimizer, total }]) => [
    name,
    ...[weights, gradients, optimizer, total].map(showBytes),
  ]);
  return formatTable(
    [
      ['', 'weights', 'gradients', 'optimiser', 'together'],
      ['base, shared', formatBytes(base), '–', '–', formatBytes(base)],
      ...rows,
    ],
    'lrrrr',
  );
}

function formatGeneration({ rolloutEngine, kvCache, ppo }: MemoryEstimate): string {
  const { perToken, perSequence } = kvCache;
  return formatTable(
    [
      ['engine, f32', showBytes(rolloutEngine.f32), 'a packed copy, exact'],
      ['engine, f32-feeds', showBytes(rolloutEngine['f32-feeds']), 'the base itself'],
      ['engine, int8', showBytes(rolloutEngine.int8), 'inexact, the fastest'],
      ['keys and values', formatBytes(perToken), 'for each token'],
      ['', formatBytes(perSequence), `for each text of ${ppo.sequenceLength} tokens`],
    ],
    'lrl',
  );
}

function formatTraining({ activations, layerAtWork, logits }: MemoryEstimate): string {
  return formatTable(
    [
      ['save: none', formatBytes(activations.none), "keeps the layers' inputs"],
      ['save: matmul', formatBytes(activations.matmul), 'and products with weights, the default'],
      ['save: all', formatBytes(activations.all), 'and all that gradients use'],
      ['a layer at work', formatBytes(layerAtWork), 'whatever is saved'],
      ['logits', formatBytes(logits), 'in parts, with their gradient'],
    ],
    'lrl',
  );
}

function formatPpo({ rollout, update }: MemoryEstimate['ppo']): string {
  const precisions = ['f32', 'f32-feeds', 'int8'] as const;
  const table = formatTable(
    [
      ['rollouts in', ...precisions],
      ['while generating', ...precisions.map((precision) => formatBytes(rollout[precision]))],
      ['while training', ...precisions.map((precision) => formatBytes(update[precision]))],
    ],
    'lrrr',
  );
  return `${table}\n  With what Node and ONNX Runtime take themselves; train --dry-run foresees a run of your own.`;
}

function showBytes(bytes: number): string {
  return bytes === 0 ? '–' : formatBytes(bytes);
}

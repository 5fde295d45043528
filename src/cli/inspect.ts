import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { openSafetensors } from '../base-setup/safetensors/open-weights.ts';
import { resolvePPOConfig } from '../config/ppo-config.ts';
import type { SaveList } from '../engine/graph/index.ts';
import { type DeviceReport, findDevices } from '../engine/runtime/index.ts';
import { engineBytes, type RolloutPrecision } from '../generation/decode-weights.ts';
import type { BasePrecision } from '../models/decoder/base-model.ts';
import type { DecoderConfig } from '../models/decoder/decoder-config.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import { readConfig } from '../models/decoder/load-model.ts';
import {
  countParameters,
  loraConfigs,
  type ParameterCounts,
} from '../models/decoder/parameter-counts.ts';
import { baseBytes, holdBase } from '../models/decoder/quantize-base.ts';
import { LOGITS_AT_ONCE } from '../models/decoder/token-head.ts';
import { findModel } from '../run/find-model.ts';
import { layerActivationBytes } from '../training/activation-bytes.ts';
import { MemoryEstimator } from '../training/memory-estimate.ts';
import { formatBytes, formatCount, formatWhole } from './format.ts';
import { printFound, resolveWithProgress } from './load-model.ts';
import { formatTable } from './table.ts';
import { formatSections, type Output } from './terminal.ts';

interface InspectFlags {
  readonly model: string;
  readonly revision?: string;
  readonly basePrecision: BasePrecision;
  readonly json?: boolean;
}

/** `proximal inspect`: a model's architecture and the memory it needs. */
export function addInspect(command: Command): void {
  command
    .description(
      'Show the architecture of a model, its parameters, the memory that PPO is estimated to need, and the devices of this machine. Weights are not loaded.',
    )
    .requiredOption(
      '--model <model>',
      'Model folder, or id on the Hugging Face hub; of a run or an adapter, its base is shown',
    )
    .option('--revision <name>', 'Branch, tag or commit on the hub')
    .addOption(
      new Option('--base-precision <name>', 'Precision of the base that is assumed')
        .choices(['f32', 'int8'])
        .default('f32'),
    )
    .option('--json', 'Print one JSON object, sizes in bytes')
    .action(inspectModel);
}

async function inspectModel(flags: InspectFlags): Promise<void> {
  const { model, revision, basePrecision, json } = flags;
  const found = await findModel(model);
  printFound(found);
  const { modelName } = found;
  const folder = await resolveWithProgress({ modelName, revision: revision ?? found.revision });
  const report = await reportModel(modelName, folder, basePrecision);
  const text = json ? JSON.stringify(report) : formatReport(report, process.stdout);
  process.stdout.write(`${text}\n`);
}

/** Everything that `proximal inspect` shows. */
interface ModelReport {
  readonly model: string;
  readonly folder: string;
  readonly architecture: DecoderConfig;
  readonly parameters: ParameterCounts;
  readonly files: readonly WeightFile[];
  readonly memory: MemoryEstimate;
  /** Devices of this machine. */
  readonly devices: readonly DeviceReport[];
}

/** A weight file and the bytes of its tensors by dtype. */
interface WeightFile {
  readonly name: string;
  readonly bytes: number;
  readonly dtypes: Readonly<Record<string, number>>;
}

/** Describes a model from its config.json and the headers of its weights. */
async function reportModel(
  model: string,
  folder: string,
  basePrecision: BasePrecision,
): Promise<ModelReport> {
  const architecture = await readConfig(folder);
  const parameters = countParameters(architecture);
  return {
    model,
    folder,
    architecture: architecture.config,
    parameters,
    files: await listFiles(folder),
    memory: estimateMemory(architecture, parameters, {
      basePrecision,
      held: await holdBase(architecture, basePrecision),
    }),
    devices: await findDevices(),
  };
}

async function listFiles(folder: string): Promise<WeightFile[]> {
  const reader = await openSafetensors(folder);
  await reader.close();
  const files = new Map<string, Record<string, number>>();
  for (const { file, dtype, length } of reader.tensors) {
    const dtypes = files.get(file) ?? {};
    dtypes[dtype] = (dtypes[dtype] ?? 0) + length;
    files.set(file, dtypes);
  }
  return [...files].map(([file, dtypes]) => ({
    name: basename(file),
    bytes: Object.values(dtypes).reduce((sum, bytes) => sum + bytes, 0),
    dtypes,
  }));
}

/** Bytes that a role adds to the shared base. */
interface RoleMemory {
  /** Adapter and head. */
  readonly weights: number;
  readonly gradients: number;
  /** AdamW's two moments. */
  readonly optimizer: number;
  readonly total: number;
}

type RoleName = 'reference' | 'policy' | 'value' | 'reward';

/** Bytes by role and phase. */
interface MemoryEstimate {
  /** One copy for all roles. */
  readonly base: number;
  readonly basePrecision: BasePrecision;
  readonly roles: Readonly<Record<RoleName, RoleMemory>>;
  /** Weights that generation holds in addition to the base. */
  readonly rolloutEngine: Readonly<Record<RolloutPrecision, number>>;
  readonly kvCache: { readonly perToken: number; readonly perSequence: number };
  /** Saved for the backward pass of `ppo.tokens` tokens. */
  readonly activations: Readonly<Record<SaveList, number>>;
  /** What one layer needs while it recomputes values. */
  readonly layerAtWork: number;
  /** A chunk of the logits and its gradient. */
  readonly logits: number;
  /** The whole process during generation and during training. */
  readonly ppo: {
    readonly sequences: number;
    readonly sequenceLength: number;
    readonly tokens: number;
    readonly rollout: Readonly<Record<RolloutPrecision, number>>;
    readonly update: Readonly<Record<RolloutPrecision, number>>;
  };
}

/** The default batch of 4, with prompt and response of 256 tokens together. */
const batch = { batch: 4, length: 256 } as const;
const tokens = batch.batch * batch.length;

/** Estimates the memory of PPO with the default adapters. */
export function estimateMemory(
  architecture: Architecture,
  parameters: ParameterCounts,
  {
    basePrecision = 'f32',
    held = basePrecision,
  }: { readonly basePrecision?: BasePrecision; readonly held?: BasePrecision } = {},
): MemoryEstimate {
  const { config } = architecture;
  const layers = config.num_hidden_layers;
  const layerBytes = (save: SaveList) =>
    layerActivationBytes(architecture, { lora: loraConfigs.attention, save, tokens: batch });
  const perToken = 8 * layers * config.num_key_value_heads * config.head_dim;
  const layerAtWork = layerBytes('all');
  return {
    base: baseBytes(architecture, held),
    basePrecision,
    roles: estimateRoles(parameters.lora.attention, config.hidden_size),
    rolloutEngine: engineBytes(architecture, held),
    kvCache: { perToken, perSequence: batch.length * perToken },
    activations: {
      none: layers * layerBytes('none'),
      matmul: layers * layerBytes('matmul'),
      all: layers * layerAtWork,
    },
    layerAtWork,
    logits: 2 * 4 * Math.min(tokens * config.vocab_size, LOGITS_AT_ONCE),
    ppo: estimatePpo(architecture, { basePrecision, held }),
  };
}

/** The reward model is not trained in PPO, and the reference is the base itself. */
function estimateRoles(adapter: number, head: number): MemoryEstimate['roles'] {
  const role = (weights: number, isTrained: boolean): RoleMemory => {
    const gradients = isTrained ? 4 * weights : 0;
    const bytes = { weights: 4 * weights, gradients, optimizer: 2 * gradients };
    return { ...bytes, total: bytes.weights + bytes.gradients + bytes.optimizer };
  };
  return {
    reference: role(0, false),
    policy: role(adapter, true),
    value: role(adapter + head, true),
    reward: role(adapter + head, false),
  };
}

/** Memory of a run with this batch, half of its tokens in prompts. */
function estimatePpo(
  architecture: Architecture,
  { basePrecision, held }: { readonly basePrecision: BasePrecision; readonly held: BasePrecision },
): MemoryEstimate['ppo'] {
  const half = batch.length / 2;
  const config = resolvePPOConfig({ batchSize: batch.batch, maxNewTokens: half, basePrecision });
  const run = { config, promptLengths: [half], rewardModels: 1, held };
  const estimator = new MemoryEstimator(architecture, run);
  const estimate = (phase: 'rollout' | 'update') => {
    const bytes = (rolloutPrecision: RolloutPrecision) =>
      estimator.estimate({ ...config, rolloutPrecision })[phase];
    return {
      ...{ f32: bytes('f32'), 'f32-feeds': bytes('f32-feeds') },
      ...{ int8: bytes('int8'), 'int8-packed': bytes('int8-packed') },
    };
  };
  const { batch: sequences, length: sequenceLength } = batch;
  return {
    sequences,
    sequenceLength,
    tokens,
    rollout: estimate('rollout'),
    update: estimate('update'),
  };
}

/** Formats a report for people. */
export function formatReport(report: ModelReport, output: Output): string {
  const { model, folder, architecture, parameters, files, memory, devices } = report;
  const { sequences, sequenceLength, tokens } = memory.ppo;
  const sections: readonly (readonly [string, string])[] = [
    [`${model}`, folder === model ? '' : folder],
    ['Architecture', formatArchitecture(architecture)],
    ['Parameters', formatParameters(parameters, architecture.num_hidden_layers)],
    ['Files', formatFiles(files)],
    ['Model memory', formatRoles(memory)],
    ['Generation memory', formatGeneration(memory)],
    [`Training memory for ${formatWhole(tokens)} tokens`, formatTraining(memory)],
    [`Total memory of PPO with ${sequences} texts of ${sequenceLength} tokens`, formatPpo(memory)],
    ['Devices', formatDevices(devices)],
  ];
  return formatSections(sections, output);
}

function formatDevices(devices: readonly DeviceReport[]): string {
  return formatTable(
    devices.map(({ device, isUsable, detail }) => [
      device,
      isUsable ? detail : `not usable: ${detail}`,
    ]),
  );
}

function formatArchitecture(config: DecoderConfig): string {
  const { num_attention_heads: heads, num_key_value_heads: kvHeads, head_dim } = config;
  const counts = kvHeads === heads ? `${heads}` : `${heads} query, ${kvHeads} key–value`;
  const tied = config.tie_word_embeddings ? 'tied to the embedding' : 'separate matrix';
  return formatTable([
    ['family', config.model_type],
    ['layers', formatWhole(config.num_hidden_layers)],
    ['hidden size', formatWhole(config.hidden_size)],
    ['MLP size', formatWhole(config.intermediate_size)],
    ['heads', `${counts}, size ${head_dim}`],
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
    row(`LoRA r=${loraConfigs.attention.r} on ${name}`, count, `${share(count)} of the model`);
  return formatTable(
    [
      row('total', counts.total),
      row('embedding', counts.embedding, share(counts.embedding)),
      ...(counts.head === 0 ? [] : [row('output head', counts.head, share(counts.head))]),
      row('per layer', counts.perLayer, `× ${layers}`),
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
  return formatTable(rows.length > 1 ? [...rows, ['total', formatBytes(bytes), '']] : rows, 'lrl');
}

function formatRoles({ base, basePrecision, roles }: MemoryEstimate): string {
  const rows = Object.entries(roles).map(([name, { weights, gradients, optimizer, total }]) => [
    name,
    ...[weights, gradients, optimizer, total].map(bytesOrDash),
  ]);
  return formatTable(
    [
      ['', 'weights', 'gradients', 'optimiser', 'total'],
      [`base, shared, ${basePrecision}`, formatBytes(base), '–', '–', formatBytes(base)],
      ...rows,
    ],
    'lrrrr',
  );
}

function formatGeneration(memory: MemoryEstimate): string {
  const { rolloutEngine, kvCache, ppo } = memory;
  const { perToken, perSequence } = kvCache;
  return formatTable(
    [
      ['engine, f32', bytesOrDash(rolloutEngine.f32), 'packed copy, exact'],
      ['engine, f32-feeds', bytesOrDash(rolloutEngine['f32-feeds']), 'uses the base itself'],
      ...int8Precisions(memory).map((precision) => [
        `engine, ${precision}`,
        bytesOrDash(rolloutEngine[precision]),
        rolloutEngine[precision] === 0
          ? 'uses the base itself, approximate'
          : 'fastest, approximate',
      ]),
      ['keys and values', formatBytes(perToken), 'per token'],
      ['', formatBytes(perSequence), `per text of ${ppo.sequenceLength} tokens`],
    ],
    'lrl',
  );
}

/** Rollouts in bytes: a packed copy is a choice only if the base is in bytes. */
function int8Precisions({ basePrecision }: MemoryEstimate): RolloutPrecision[] {
  return basePrecision === 'int8' ? ['int8', 'int8-packed'] : ['int8'];
}

function formatTraining({ activations, layerAtWork, logits }: MemoryEstimate): string {
  return formatTable(
    [
      ['save: none', formatBytes(activations.none), 'layer inputs only'],
      ['save: matmul', formatBytes(activations.matmul), 'plus products with weights (default)'],
      ['save: all', formatBytes(activations.all), 'plus everything that gradients use'],
      ['active layer', formatBytes(layerAtWork), 'in each case'],
      ['logits', formatBytes(logits), 'in chunks, with their gradient'],
    ],
    'lrl',
  );
}

function formatPpo(memory: MemoryEstimate): string {
  const { rollout, update } = memory.ppo;
  const precisions: RolloutPrecision[] = ['f32', 'f32-feeds', ...int8Precisions(memory)];
  const table = formatTable(
    [
      ['rollout precision', ...precisions],
      ['during generation', ...precisions.map((precision) => formatBytes(rollout[precision]))],
      ['during training', ...precisions.map((precision) => formatBytes(update[precision]))],
    ],
    `l${'r'.repeat(precisions.length)}`,
  );
  return `${table}\n  Includes Node and ONNX Runtime. Use train --dry-run to estimate your own run.`;
}

function bytesOrDash(bytes: number): string {
  return bytes === 0 ? '–' : formatBytes(bytes);
}

import { firstAdaptedLayer, toLoraConfig } from '../base-setup/lora/lora-config.ts';
import { type PPOConfig, valueLoraFields } from '../config/ppo-config.ts';
import type { StageConfig } from '../config/stage-config.ts';
import { machineMemory } from '../engine/runtime/index.ts';
import { engineBytes, recomputesLogprobs } from '../generation/decode-weights.ts';
import { cacheBytes, chooseSlots } from '../generation/kv-cache.ts';
import {
  type BaseModel,
  type BasePrecision,
  defaultLayersPerSession,
} from '../models/decoder/base-model.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import { countAdapter, countParameters } from '../models/decoder/parameter-counts.ts';
import { baseBytes } from '../models/decoder/quantize-base.ts';
import { LOGITS_AT_ONCE } from '../models/decoder/token-head.ts';
import { activationMeter, layerActivationBytes } from './activation-bytes.ts';
import { TRAINED_LOGITS_AT_ONCE } from './language-pass.ts';
import { firstStepIsWhole } from './micro-batches.ts';

/** The settings that determine the memory of a run. */
export type MemorySettings = Pick<
  PPOConfig,
  | 'rolloutPrecision'
  | 'rolloutBatchSize'
  | 'saveActivations'
  | 'maxTokensAtOnce'
  | 'microBatchSize'
  | 'keepPasses'
  | 'maxCachedTokens'
>;

export interface MemoryOptions {
  readonly config: PPOConfig;
  /** Tokens of the prompts. */
  readonly promptLengths: readonly number[];
  /** Reward models over the base. */
  readonly rewardModels: number;
  /** How the base holds its matrices (`holdBase`); at the precision of the config by default. */
  readonly held?: BasePrecision | undefined;
}

/** Bytes of a process that runs PPO. */
export interface MemoryEstimate {
  /** While the decoder is built and texts are generated. */
  readonly rollout: number;
  /** While models are trained, including everything that stays allocated. */
  readonly update: number;
  readonly peak: number;
}

/** Node with this package and ONNX Runtime. */
const PROCESS = 200e6;
/** Arrays as large as the trained weights: the weights, their gradients and two moments. */
const OPTIMIZER_COPIES = 4;
/** What a PPO step adds: a copy of weights and moments to undo a failed step, and the gradients of
 *  one micro-batch. */
const STEP_COPIES = 4;
/** Arrays as large as a step's logits that the graph and sampling hold together. */
const SAMPLING_COPIES = 4;
/** Arrays as large as a part of the logits that the output head and its gradient hold together. */
const LOGIT_COPIES = 5;

/** Sessions that each hold float32 copies of one layer's weights, if the base is in bytes. */
const CONVERTING_SESSIONS = 4;

/** Bytes of a base and of what running it needs besides activations. */
function bytesOfBase(architecture: Architecture, held: BasePrecision): number {
  const { perLayer } = countParameters(architecture);
  const copies = held === 'int8' ? CONVERTING_SESSIONS * 4 * perLayer : 0;
  return baseBytes(architecture, held) + copies;
}

function heldBy({ basePrecision }: Pick<PPOConfig, 'basePrecision'>): BasePrecision {
  return basePrecision === 'int8' ? 'int8' : 'f32';
}

/** Estimates the memory of a run under several settings: the base once, the decoder's weights, adapters
 *  with their optimisers; then keys and values while generating, activations while training. */
export class MemoryEstimator {
  private readonly architecture: Architecture;
  private readonly options: MemoryOptions;
  private readonly engine: ReturnType<typeof engineBytes>;
  private readonly savedBytes: Readonly<
    Record<PPOConfig['saveActivations'], ReturnType<typeof activationMeter>>
  >;
  private readonly resident: number;
  /** Numbers of layers below the first adapted one, per trained model. */
  private readonly frozen: { readonly policy: number; readonly value: number };
  /** Tokens of the longest prompt, and the maximum of a batch of prompts. */
  private readonly longestPrompt: number;
  private readonly promptTokens: number;

  constructor(architecture: Architecture, options: MemoryOptions) {
    const { config, rewardModels, held = heldBy(config) } = options;
    const lora = toLoraConfig(config, architecture.config);
    const valueLora = toLoraConfig(valueLoraFields(config), architecture.config);
    const meter = (save: PPOConfig['saveActivations']) =>
      activationMeter(architecture, { lora, save });
    this.architecture = architecture;
    this.options = options;
    const lengths = options.promptLengths.toSorted((a, b) => b - a);
    this.longestPrompt = lengths[0] ?? 0;
    this.promptTokens = Array.from(
      { length: config.batchSize },
      (_, i) => lengths[i % lengths.length] ?? 0,
    ).reduce((sum, length) => sum + length, 0);
    this.engine = engineBytes(architecture, held);
    this.savedBytes = { none: meter('none'), matmul: meter('matmul'), all: meter('all') };
    this.frozen = { policy: firstAdaptedLayer(lora), value: firstAdaptedLayer(valueLora) };
    const [adapter, valueAdapter] = [lora, valueLora].map((it) => countAdapter(architecture, it));
    const trained = adapter! + (this.hasValues ? valueAdapter! : 0);
    this.resident =
      PROCESS +
      bytesOfBase(architecture, held) +
      4 * ((OPTIMIZER_COPIES + STEP_COPIES) * trained + rewardModels * adapter!);
  }

  /** Tokens of the longest prompt and response. */
  get longest(): number {
    return this.longestPrompt + this.options.config.maxNewTokens;
  }

  /** Number of texts that are generated together. */
  slotsOf({ rolloutBatchSize }: Pick<MemorySettings, 'rolloutBatchSize'>): number {
    const slots = rolloutBatchSize ?? chooseSlots(this.architecture.config, this.longest);
    return Math.min(slots, this.responses);
  }

  estimate(settings: MemorySettings): MemoryEstimate {
    const { vocab_size, hidden_size } = this.architecture.config;
    const { rolloutPrecision } = settings;
    const slots = this.slotsOf(settings);
    const cache = cacheBytes(this.architecture.config, { slots, length: this.longest });
    const sampling = SAMPLING_COPIES * 4 * slots * vocab_size;
    // While a session copies a weight, both copies exist.
    const sessionCopy = this.engine[rolloutPrecision] === 0 ? 0 : 4 * vocab_size * hidden_size;
    const resident = this.resident + this.engine[rolloutPrecision];
    const rollout = resident + Math.max(sessionCopy, cache + sampling);
    const update = resident + this.updateBytes(settings);
    return { rollout, update, peak: Math.max(rollout, update) };
  }

  /** Tokens whose passes fit into a number of bytes, besides everything else. */
  cachedTokens(limit: number): number {
    const { config } = this.options;
    const { peak } = this.estimate({ ...config, keepPasses: false });
    const { policy, value } = this.tapeBytes(config);
    return Math.max(0, Math.floor((limit - peak) / (policy + value)));
  }

  /** Bytes of the tapes of one token. */
  private tapeBytes({ saveActivations }: Pick<MemorySettings, 'saveActivations'>) {
    const layers = this.architecture.config.num_hidden_layers;
    // A small model computes its gradients in one run, which holds all activations.
    const isSmall = defaultLayersPerSession(this.architecture) === layers;
    const perLayer = this.layerBytes(isSmall ? 'all' : saveActivations);
    const above = (frozen: number) => (layers - frozen) * perLayer;
    const { policy, value } = this.frozen;
    return { policy: above(policy), value: this.hasValues ? above(value) : 0 };
  }

  /** Bytes that one layer saves for a token. */
  private layerBytes(save: PPOConfig['saveActivations']): number {
    return this.savedBytes[save]({ batch: 1, length: this.longest }) / this.longest;
  }

  private get responses(): number {
    return this.options.config.batchSize * this.options.config.samplesPerPrompt;
  }

  private get hasValues(): boolean {
    return this.options.config.advantageEstimator === 'gae';
  }

  /** The tapes of reused passes or the tape of one update, plus the layer or output head that runs. */
  private updateBytes(settings: MemorySettings): number {
    const { vocab_size } = this.architecture.config;
    const { rolloutPrecision } = settings;
    const together = this.tokensAtOnce(settings);
    const reusedTokens = this.reusedTokens(settings);
    const { policy, value } = this.tapeBytes(settings);
    // Without recomputed logprobs, only prompts of the policy are cached.
    const { rollouts } = this.options.config;
    const policyTokens = recomputesLogprobs({ rollouts, rolloutPrecision })
      ? reusedTokens
      : Math.min(reusedTokens, this.promptTokens);
    const logits = 4 * Math.min(this.responseTokensOf(together) * vocab_size, LOGITS_AT_ONCE);
    const work = Math.max(together * this.layerBytes('all'), LOGIT_COPIES * logits);
    const running = together * Math.max(policy, value);
    return (
      Math.max(running, reusedTokens * value + policyTokens * policy) +
      work +
      this.trunkBytes(settings)
    );
  }

  /** The states below the adapters of all tokens of a step, with keys and values of its prompts. */
  private trunkBytes({ keepPasses }: MemorySettings): number {
    const { policy, value } = this.frozen;
    const borders = new Set([policy, this.hasValues ? value : policy]);
    borders.delete(0);
    const { hidden_size, num_key_value_heads: heads, head_dim } = this.architecture.config;
    const states = borders.size * this.totalTokens * hidden_size;
    // Rollouts of this process leave the keys and values of prompts for the other models.
    const isFilled = keepPasses !== false && this.options.config.rollouts === undefined;
    const perPromptToken = isFilled ? policy * 2 * heads * head_dim : 0;
    return 4 * (states + this.promptTokens * perPromptToken);
  }

  private get totalTokens(): number {
    return this.promptTokens + this.responses * this.options.config.maxNewTokens;
  }

  private responseTokensOf(tokens: number): number {
    return Math.min(tokens, this.responses * this.options.config.maxNewTokens);
  }

  /** Tokens that are trained together: a prompt with several responses counts once. */
  private tokensAtOnce({ microBatchSize, maxTokensAtOnce }: MemorySettings): number {
    const most =
      microBatchSize === undefined
        ? Math.max(maxTokensAtOnce, this.longest)
        : microBatchSize * this.longest;
    return Math.min(most, this.totalTokens);
  }

  /** Tokens whose passes the update reuses. By default it reuses them if all fit
   *  together, which shorter responses may do. */
  private reusedTokens(settings: MemorySettings): number {
    const { keepPasses, microBatchSize = this.responses } = settings;
    const isWhole = firstStepIsWhole(this.responses, this.options.config);
    if (!isWhole || keepPasses === false) return 0;
    if (keepPasses) return this.totalTokens;
    const { maxCachedTokens = this.cachedTokens(memoryForPasses()) } = settings;
    if (this.totalTokens <= maxCachedTokens) return this.totalTokens;
    return microBatchSize < this.responses ? 0 : this.tokensAtOnce(settings);
  }
}

/** Bytes that a run may take with the forward passes that it reuses: half of what this process can have. */
function memoryForPasses(): number {
  return machineMemory() / 2;
}

/** Most tokens of a step whose forward passes are reused: the config's, or as many as fit into half of the
 *  memory of the machine. */
export function cachedTokens(
  { architecture, bytes }: Pick<BaseModel, 'architecture' | 'bytes'>,
  config: PPOConfig,
): number {
  if (config.maxCachedTokens !== undefined) return config.maxCachedTokens;
  const estimator = new MemoryEstimator(architecture, {
    config,
    held: bytes === undefined ? 'f32' : 'int8',
    promptLengths: [],
    rewardModels: 1,
  });
  return estimator.cachedTokens(memoryForPasses());
}

/** What the memory of SFT or reward training depends on. */
export interface StageMemoryOptions {
  readonly config: StageConfig;
  /** Number of trained weights. */
  readonly trained: number;
  /** Tokens of the longest text or pair. */
  readonly longest: number;
  /** Whether the base itself is trained instead of an adapter. */
  readonly isFull: boolean;
  readonly head: 'language' | 'scalar';
  /** How the base holds its matrices; at the precision of the config by default. */
  readonly held?: BasePrecision | undefined;
}

/** Bytes of SFT or reward training: the base, the trained weights with their optimiser, and the
 *  activations of the tokens that run together. */
export function estimateStageBytes(
  architecture: Architecture,
  { config, trained, longest, isFull, head, held = heldBy(config) }: StageMemoryOptions,
): number {
  const { num_hidden_layers, vocab_size } = architecture.config;
  const base = isFull ? 0 : bytesOfBase(architecture, held);
  const fitting = Math.max(1, Math.floor(config.maxTokensAtOnce / longest));
  const batch = Math.min(fitting, config.batchSize);
  const lora = toLoraConfig(config, architecture.config);
  const layers = num_hidden_layers - (isFull ? 0 : firstAdaptedLayer(lora));
  const layerBytes = (save: StageConfig['saveActivations']) =>
    layerActivationBytes(architecture, { lora, save, tokens: { batch, length: longest } });
  const logitLimit = isFull ? TRAINED_LOGITS_AT_ONCE : LOGITS_AT_ONCE;
  // The logits and their gradient.
  const logits =
    head === 'language' ? 2 * 4 * Math.min(batch * longest * vocab_size, logitLimit) : 0;
  const activations = layers * layerBytes(config.saveActivations) + layerBytes('all');
  return PROCESS + base + 4 * OPTIMIZER_COPIES * trained + activations + logits;
}

export interface MemoryPlan {
  readonly settings: MemorySettings;
  readonly estimate: MemoryEstimate;
}

/** Precisions in order of decreasing memory. */
const precisions = ['f32', 'int8-packed', 'int8', 'f32-feeds'] as const;
const saveLists = ['all', 'matmul', 'none'] as const;

/**
 * Settings that fit into a number of bytes: those of the config, or the first that fit when reduced
 * in turn, cheapest first: cached passes, texts and tokens that run together, saved
 * values, and finally the precision of rollouts.
 */
export function planMemory(
  architecture: Architecture,
  options: MemoryOptions & { readonly limit: number },
): MemoryPlan {
  const estimator = new MemoryEstimator(architecture, options);
  let smallest = Infinity;
  for (const settings of settingsInOrder(estimator, options)) {
    const estimate = estimator.estimate(settings);
    if (estimate.peak <= options.limit) return { settings, estimate };
    smallest = Math.min(smallest, estimate.peak);
  }
  throw new RangeError(
    `Cannot fit the run into memory: memory must be at least ${gigabytes(smallest)}, got ${gigabytes(options.limit)}; raise memory, or use a smaller model, shorter prompts or fewer maxNewTokens`,
  );
}

function* settingsInOrder(
  estimator: MemoryEstimator,
  { config }: MemoryOptions,
): Generator<MemorySettings> {
  const { microBatchSize } = config;
  const passes = config.keepPasses === false ? [false] : [true, false];
  for (const rolloutPrecision of precisionsInOrder(config)) {
    for (const saveActivations of from(saveLists, config.saveActivations)) {
      for (const maxTokensAtOnce of halvings(config.maxTokensAtOnce, estimator.longest)) {
        for (const rolloutBatchSize of halvings(estimator.slotsOf(config), 1)) {
          for (const keepPasses of passes) {
            yield {
              ...{ rolloutPrecision, saveActivations, maxTokensAtOnce },
              ...{ rolloutBatchSize, keepPasses, microBatchSize },
            };
          }
        }
      }
    }
  }
}

/** A packed copy is another choice only for a base in bytes. */
function precisionsInOrder({ rolloutPrecision, basePrecision }: MemoryOptions['config']) {
  return from(precisions, rolloutPrecision).filter(
    (precision) => precision !== 'int8-packed' || basePrecision === 'int8',
  );
}

function from<T>(list: readonly T[], first: T): readonly T[] {
  return list.slice(list.indexOf(first));
}

/** A number, its half and so on, down to a minimum.
 *  @example 1024 to 300  →  1024, 512, 300 */
function halvings(most: number, least: number): number[] {
  const all = [most];
  while (all.at(-1)! > least) all.push(Math.max(least, Math.floor(all.at(-1)! / 2)));
  return all;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

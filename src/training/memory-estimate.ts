import { toLoraConfig } from '../base-setup/lora/lora-config.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { StageConfig } from '../config/stage-config.ts';
import { engineBytes } from '../generation/decode-weights.ts';
import { cacheBytes, chooseSlots } from '../generation/kv-cache.ts';
import { defaultLayersPerSession } from '../models/decoder/base-model.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import { countAdapter, countParameters } from '../models/decoder/parameter-counts.ts';
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
>;

export interface MemoryOptions {
  readonly config: PPOConfig;
  /** Tokens of the prompts. */
  readonly promptLengths: readonly number[];
  /** Reward models over the base. */
  readonly rewardModels: number;
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
  /** Tokens of the longest prompt, and the maximum of a batch of prompts. */
  private readonly longestPrompt: number;
  private readonly promptTokens: number;

  constructor(architecture: Architecture, options: MemoryOptions) {
    const { config, rewardModels } = options;
    const lora = toLoraConfig(config);
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
    this.engine = engineBytes(architecture);
    this.savedBytes = { none: meter('none'), matmul: meter('matmul'), all: meter('all') };
    const adapter = 4 * countAdapter(architecture, lora);
    this.resident =
      PROCESS +
      4 * countParameters(architecture).total +
      adapter * ((OPTIMIZER_COPIES + STEP_COPIES) * this.trainedModels + rewardModels);
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
    const sessionCopy = rolloutPrecision === 'f32-feeds' ? 0 : 4 * vocab_size * hidden_size;
    const resident = this.resident + this.engine[rolloutPrecision];
    const rollout = resident + Math.max(sessionCopy, cache + sampling);
    const update = resident + this.updateBytes(settings);
    return { rollout, update, peak: Math.max(rollout, update) };
  }

  private get responses(): number {
    return this.options.config.batchSize * this.options.config.samplesPerPrompt;
  }

  private get trainedModels(): number {
    return this.options.config.advantageEstimator === 'gae' ? 2 : 1;
  }

  /** The tapes of reused passes or the tape of one update, plus the layer or output head that runs. */
  private updateBytes(settings: MemorySettings): number {
    const { vocab_size } = this.architecture.config;
    const { rolloutPrecision, saveActivations } = settings;
    const together = this.tokensAtOnce(settings);
    const reusedTokens = this.reusedTokens(settings);
    const perToken = (save: PPOConfig['saveActivations']) =>
      this.savedBytes[save]({ batch: 1, length: this.longest }) / this.longest;
    const layers = this.architecture.config.num_hidden_layers;
    // A small model computes its gradients in one run, which holds all activations.
    const isSmall = defaultLayersPerSession(this.architecture) === layers;
    const tape = layers * perToken(isSmall ? 'all' : saveActivations);
    // Logprobs are recomputed only for int8 rollouts; otherwise only prompts of the policy are cached.
    const policyTokens =
      rolloutPrecision === 'int8' ? reusedTokens : Math.min(reusedTokens, this.promptTokens);
    const values = (this.trainedModels - 1) * reusedTokens * tape;
    const logits = 4 * Math.min(this.responseTokensOf(together) * vocab_size, LOGITS_AT_ONCE);
    const work = Math.max(together * perToken('all'), LOGIT_COPIES * logits);
    return Math.max(together * tape, values + policyTokens * tape) + work;
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
    return microBatchSize < this.responses ? 0 : this.tokensAtOnce(settings);
  }
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
}

/** Bytes of SFT or reward training: the base, the trained weights with their optimiser, and the
 *  activations of the tokens that run together. */
export function estimateStageBytes(
  architecture: Architecture,
  { config, trained, longest, isFull, head }: StageMemoryOptions,
): number {
  const { num_hidden_layers: layers, vocab_size } = architecture.config;
  const base = isFull ? 0 : 4 * countParameters(architecture).total;
  const fitting = Math.max(1, Math.floor(config.maxTokensAtOnce / longest));
  const batch = Math.min(fitting, config.batchSize);
  const lora = toLoraConfig(config);
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
const precisions = ['f32', 'int8', 'f32-feeds'] as const;
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
  for (const rolloutPrecision of from(precisions, config.rolloutPrecision)) {
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

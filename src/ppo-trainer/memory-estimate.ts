import { loraOf } from '../base-setup/lora/lora-of-config.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { chooseSlots } from '../generation/choose-slots.ts';
import { engineBytes } from '../generation/engine-bytes.ts';
import { cacheBytes } from '../generation/kv-cache.ts';
import { LOGITS_AT_ONCE } from '../models/decoder/base-model.ts';
import type { Architecture } from '../models/decoder/families/index.ts';
import { countAdapter, countParameters } from '../models/decoder/parameter-counts.ts';
import { activationMeter } from '../training/activation-bytes.ts';

/** The settings that decide what a run takes. */
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
  /** Tokens of the longest prompt. */
  readonly longestPrompt: number;
  /** Reward models over the base. */
  readonly rewardModels: number;
}

/** Bytes of a process that runs PPO. */
export interface MemoryEstimate {
  /** While the decoder is made and texts are generated. */
  readonly rollout: number;
  /** While models are trained, with all that stays from before. */
  readonly update: number;
  readonly peak: number;
}

/** Node with this package and ONNX Runtime. */
const PROCESS = 200e6;
/** Arrays as large as an adapter that its training holds: weights, gradients, two moments, and a copy
 *  of all but the gradients that an update which fails goes back to. */
const TRAINED_COPIES = 7;
/** Arrays as large as a chunk of logits that the output head and its gradient hold at once. */
const LOGIT_COPIES = 5;

/** Estimates what a run takes under several settings: the base once, the decoder's weights, adapters
 *  with what trains them; then keys and values while generating, activations while training. */
export class MemoryEstimator {
  private readonly architecture: Architecture;
  private readonly options: MemoryOptions;
  private readonly engine: ReturnType<typeof engineBytes>;
  private readonly kept: Readonly<
    Record<PPOConfig['saveActivations'], ReturnType<typeof activationMeter>>
  >;
  private readonly resident: number;

  constructor(architecture: Architecture, options: MemoryOptions) {
    const { config, rewardModels } = options;
    const lora = loraOf(config);
    const meter = (save: PPOConfig['saveActivations']) =>
      activationMeter(architecture, { lora, save });
    this.architecture = architecture;
    this.options = options;
    this.engine = engineBytes(architecture);
    this.kept = { none: meter('none'), matmul: meter('matmul'), all: meter('all') };
    const adapter = 4 * countAdapter(architecture, lora);
    this.resident =
      PROCESS +
      4 * countParameters(architecture).total +
      adapter * (TRAINED_COPIES * this.trainedModels + rewardModels);
  }

  /** Tokens of the longest prompt and response. */
  get longest(): number {
    return this.options.longestPrompt + this.options.config.maxNewTokens;
  }

  /** Texts that are generated at once. */
  slotsOf({ rolloutBatchSize }: Pick<MemorySettings, 'rolloutBatchSize'>): number {
    const slots = rolloutBatchSize ?? chooseSlots(this.architecture.config, this.longest);
    return Math.min(slots, this.responses);
  }

  estimate(settings: MemorySettings): MemoryEstimate {
    const { vocab_size, hidden_size } = this.architecture.config;
    const { rolloutPrecision } = settings;
    const slots = this.slotsOf(settings);
    const cache = cacheBytes(this.architecture.config, { slots, length: this.longest });
    const drawing = 2 * 4 * slots * vocab_size;
    // A session takes a weight in while it still has the one that it was given.
    const making = rolloutPrecision === 'f32-feeds' ? 0 : 4 * vocab_size * hidden_size;
    const resident = this.resident + this.engine[rolloutPrecision];
    const rollout = resident + Math.max(making, cache + drawing);
    const update = resident + this.updateBytes(settings);
    return { rollout, update, peak: Math.max(rollout, update) };
  }

  private get responses(): number {
    return this.options.config.batchSize * this.options.config.samplesPerPrompt;
  }

  private get trainedModels(): number {
    return this.options.config.advantageEstimator === 'gae' ? 2 : 1;
  }

  private updateBytes(settings: MemorySettings): number {
    const { num_hidden_layers: layers, vocab_size } = this.architecture.config;
    const { maxNewTokens, miniBatchSize = this.responses } = this.options.config;
    const { microBatchSize, maxTokensAtOnce, saveActivations } = settings;
    const length = this.longest;
    const fitting = Math.max(1, Math.floor(maxTokensAtOnce / length));
    const batch = Math.min(microBatchSize ?? fitting, miniBatchSize);
    const { keepPasses = batch >= this.responses } = settings;
    const isKept = keepPasses && miniBatchSize >= this.responses;
    const tape = (count: number) => layers * this.kept[saveActivations]({ batch: count, length });
    const kept = isKept ? this.keptModels(settings) * tape(this.responses) : 0;
    const logits = 4 * Math.min(batch * maxNewTokens * vocab_size, LOGITS_AT_ONCE);
    const work = Math.max(this.kept.all({ batch, length }), LOGIT_COPIES * logits);
    return Math.max(tape(batch), kept) + work;
  }

  /** Models whose passes are kept: logprobs are computed again only for texts of 8 bits. */
  private keptModels({ rolloutPrecision }: MemorySettings): number {
    return this.trainedModels - 1 + Number(rolloutPrecision === 'int8');
  }
}

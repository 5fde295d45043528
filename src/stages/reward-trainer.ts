import { LoraAdapter, readAdapter } from '../base-setup/index.ts';
import { toLoraConfig } from '../base-setup/lora/lora-config.ts';
import { scoreWeightName } from '../base-setup/lora/peft-config.ts';
import { mean, standardDeviation } from '../columns/index.ts';
import {
  type RewardConfig,
  type RewardConfigOptions,
  resolveRewardConfig,
} from '../config/stage-config.ts';
import { randomStream } from '../engine/random/index.ts';
import type { LoopOptions, LoopResult, TrainLoop } from '../loop/index.ts';
import { createTrainLoop } from '../loop/loop-checkpoints.ts';
import {
  type LoadedModel,
  loadModel,
  RewardModel,
  randomHead,
  saveRewardModel,
} from '../models/index.ts';
import { RoleOptimizer } from '../training/index.ts';
import {
  type PreferenceTexts,
  pairMetrics,
  RewardObjective,
  type RewardTexts,
} from './reward-objective.ts';
import { parameterGroups, stageTraining } from './stage-training.ts';

export interface RewardTrainOptions extends LoopOptions {
  /** Held-out texts for evaluation. */
  readonly validation?: RewardTexts | undefined;
}

/** Trains a reward model, an adapter and a head over a base, from preferences or ratings. */
export class RewardTrainer {
  readonly config: RewardConfig;
  private readonly loadedModel: LoadedModel | undefined;
  private building: Promise<RewardModel> | undefined;
  private baseName = '';

  constructor(config: RewardConfigOptions = {}, { model }: { model?: LoadedModel } = {}) {
    this.config = resolveRewardConfig(config);
    this.loadedModel = model;
  }

  /** The reward model that is trained. */
  model(): Promise<RewardModel> {
    this.building ??= this.build();
    return this.building;
  }

  /** Trains on pairs or on ratings. */
  async train(texts: RewardTexts, options: RewardTrainOptions = {}): Promise<LoopResult> {
    const { validation = [], ...rest } = options;
    return (await this.loop(texts, { validation, options: rest })).run();
  }

  /** Restores the weights of a checkpoint. */
  async loadCheckpoint(folder: string, texts: RewardTexts): Promise<void> {
    await (await this.loop(texts, {})).resume(folder);
  }

  /** Accuracy, margin, loss and calibration on pairs. */
  async evaluate(pairs: readonly PreferenceTexts[]) {
    const model = await this.model();
    const scores = await model.forward(pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]));
    return pairMetrics(scores, pairs);
  }

  /** Sets the normalisation so that the scores of these texts have mean 0 and standard deviation 1. */
  async normalize(texts: readonly Int32Array[]): Promise<void> {
    const model = await this.model();
    model.normalization = { mean: 0, std: 1 };
    const scores = await model.forward(texts);
    model.normalization = { mean: mean(scores), std: Math.max(standardDeviation(scores), 1e-6) };
  }

  /** Writes adapter and head as PEFT does for sequence classification, with the normalisation. */
  async saveModel(folder: string): Promise<void> {
    await saveRewardModel(folder, await this.model(), { baseModelNameOrPath: this.baseName });
  }

  private async build(): Promise<RewardModel> {
    const { modelName, revision, basePrecision, device, adapter: start, seed } = this.config;
    const options = { basePrecision, device, ...(revision !== undefined && { revision }) };
    const model = this.loadedModel ?? (await loadModel(modelName, options));
    const { base, tokenizer } = model;
    this.baseName = model.name ?? model.folder;
    const { config } = base.architecture;
    const adapter =
      start === undefined
        ? LoraAdapter.create(toLoraConfig(this.config, config), base.modules(), `${seed} reward`)
        : (await readAdapter(start, base)).adapter;
    const head = randomHead(config.hidden_size, seed);
    return new RewardModel({ base, tokenizer, adapter, head });
  }

  private async loop(
    texts: RewardTexts,
    { validation = [], options = {} }: { validation?: RewardTexts; options?: LoopOptions },
  ): Promise<TrainLoop> {
    const model = await this.model();
    const { config } = this;
    const task = new RewardObjective(texts, config);
    const { weights } = model.adapter!;
    const head = { [scoreWeightName]: model.head.data };
    const adapter = parameterGroups(weights, config);
    const { learningRate } = config;
    const optimizer = new RoleOptimizer([...adapter, { parameters: head, learningRate }], config);
    const stage = {
      optimizer,
      parameters: {
        ...Object.fromEntries([...weights].map(([name, { data }]) => [name, data])),
        ...head,
      },
      count: texts.length,
      accumulate: (indices: Int32Array, { step }: { readonly step: number }) =>
        task.learn(indices, {
          model,
          optimizer,
          random: randomStream(config.seed, 'reward dropout', step),
        }),
      validate: async () =>
        validation.length === 0
          ? undefined
          : new RewardObjective(validation, config).validate(model),
    };
    return createTrainLoop(stageTraining(stage, config), config, options);
  }
}

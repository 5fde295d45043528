import { LoraAdapter, readAdapter, writeAdapter } from '../base-setup/index.ts';
import { toLoraConfig } from '../base-setup/lora/lora-config.ts';
import { resolveSFTConfig, type SFTConfig, type SFTConfigOptions } from '../config/stage-config.ts';
import { randomStream } from '../engine/random/index.ts';
import { freeTensors } from '../engine/runtime/index.ts';
import type { LoopOptions, LoopResult, TrainLoop } from '../loop/index.ts';
import { createTrainLoop } from '../loop/loop-checkpoints.ts';
import { freePass } from '../models/decoder/pass.ts';

import { transposedModules } from '../models/decoder/weight-shapes.ts';
import { forward, type LoadedModel, loadModel, saveModel } from '../models/index.ts';
import { groupByTokens } from '../models/token-batch.ts';
import {
  type LearnedText,
  languageGradients,
  learnedRows,
  packTexts,
  RoleOptimizer,
} from '../training/index.ts';
import { parameterGroups, stageTraining } from './stage-training.ts';

export interface SFTTrainOptions extends LoopOptions {
  /** Held-out texts for evaluation. */
  readonly validation?: readonly LearnedText[] | undefined;
}

/** Loss per token and its exponential. */
export interface LanguageLoss {
  readonly loss: number;
  readonly perplexity: number;
}

/** Supervised fine-tuning: the loss of completions, through an adapter or all weights.
 *  L = −(1/N) Σ log π(token | those before it), over the N learned tokens of an optimiser step */
export class SFTTrainer {
  readonly config: SFTConfig;
  private readonly loadedModel: LoadedModel | undefined;
  private loaded: Promise<LoadedModel> | undefined;
  private adapter: LoraAdapter | undefined;

  constructor(config: SFTConfigOptions = {}, { model }: { model?: LoadedModel } = {}) {
    this.config = resolveSFTConfig(config);
    this.loadedModel = model;
  }

  /** The model that is trained, and its adapter if it has one. */
  async model(): Promise<LoadedModel & { adapter: LoraAdapter | undefined }> {
    this.loaded ??= this.load();
    const model = await this.loaded;
    return { ...model, adapter: this.adapter };
  }

  /** Trains the model on texts and evaluates it on the validation texts. */
  async train(texts: readonly LearnedText[], options: SFTTrainOptions = {}): Promise<LoopResult> {
    const { validation = [], ...rest } = options;
    return (await this.loop(texts, { validation, options: rest })).run();
  }

  /** Mean loss over all learned tokens, without dropout. */
  async evaluate(texts: readonly LearnedText[]): Promise<LanguageLoss> {
    const { base } = await this.model();
    let [sum, count] = [0, 0];
    for (const group of this.groups(texts)) {
      const batch = packTexts(group);
      const { rows, targets } = learnedRows(group, batch);
      const pass = await forward({ base, adapter: this.adapter }, batch);
      const states = await base.deviceRows.take(pass.hidden, rows);
      const { logprobs } = await base.logprobs(states, targets);
      freeTensors(states);
      freePass(pass);
      for (const logprob of logprobs) sum -= logprob;
      count += targets.length;
    }
    return { loss: sum / count, perplexity: Math.exp(sum / count) };
  }

  /** Writes the adapter as PEFT does, or the whole model if it is merged or fully trained. */
  async saveModel(folder: string, { merged = false }: { merged?: boolean } = {}): Promise<void> {
    const { base, folder: from, name = from } = await this.model();
    if (this.adapter !== undefined && !merged) {
      await writeAdapter(folder, this.adapter, {
        baseModelNameOrPath: name,
        fingerprint: base.fingerprint(),
        fanInFanOut: transposedModules(base.architecture).size > 0,
      });
      return;
    }
    await saveModel(folder, base, { adapter: this.adapter, source: from });
  }

  private async load(): Promise<LoadedModel> {
    const { modelName, revision, basePrecision, device, adapter, fullParameters, seed } =
      this.config;
    const options = { basePrecision, device, ...(revision !== undefined && { revision }) };
    const model = this.loadedModel ?? (await loadModel(modelName, options));
    if (adapter !== undefined) this.adapter = (await readAdapter(adapter, model.base)).adapter;
    else if (!fullParameters) {
      const lora = toLoraConfig(this.config, model.base.architecture.config);
      this.adapter = LoraAdapter.create(lora, model.base.modules(), seed);
    }
    return model;
  }

  /** Restores the weights of a checkpoint. */
  async loadCheckpoint(folder: string, texts: readonly LearnedText[]): Promise<void> {
    await (await this.loop(texts, {})).resume(folder);
  }

  private async loop(
    texts: readonly LearnedText[],
    {
      validation = [],
      options = {},
    }: { validation?: readonly LearnedText[]; options?: LoopOptions },
  ): Promise<TrainLoop> {
    expectTexts(texts);
    const { base } = await this.model();
    const { adapter, config } = this;
    const weights = adapter?.weights ?? base.weights;
    const optimizer = new RoleOptimizer(parameterGroups(weights, config), config);
    const stage = {
      optimizer,
      parameters: Object.fromEntries([...weights].map(([name, { data }]) => [name, data])),
      count: texts.length,
      accumulate: async (indices: Int32Array, { step }: { readonly step: number }) => {
        const batch = Array.from(indices, (i) => texts[i]!);
        const tokenCount = batch.reduce((sum, { learned }) => sum + learned.length, 0);
        const dropout = randomStream(config.seed, 'sft dropout', step);
        let loss = 0;
        for (const group of this.groups(batch)) {
          loss += await languageGradients({ base, adapter }, group, {
            tokenCount,
            save: config.saveActivations,
            dropout,
            accumulate: optimizer.add,
          });
        }
        return { 'train/loss': loss, 'train/tokens': tokenCount };
      },
      validate: async () => {
        if (validation.length === 0) return undefined;
        const { loss, perplexity } = await this.evaluate(validation);
        return { 'eval/loss': loss, 'eval/perplexity': perplexity };
      },
    };
    return createTrainLoop(stageTraining(stage, config), config, options);
  }

  /** Texts that run together. */
  private *groups(texts: readonly LearnedText[]): Generator<readonly LearnedText[]> {
    const lengths = texts.map(({ tokens }) => tokens);
    for (const { start, end } of groupByTokens(lengths, this.config.maxTokensAtOnce)) {
      yield texts.slice(start, end);
    }
  }
}

function expectTexts(texts: readonly LearnedText[]): void {
  if (texts.length === 0) throw new RangeError('Cannot fine-tune: there must be texts, got none');
  const empty = texts.findIndex(({ learned }) => learned.length === 0 || learned.includes(0));
  if (empty === -1) return;
  throw new RangeError(
    `Cannot fine-tune: text ${empty} must have tokens to learn, none of them the first, got [${texts[empty]!.learned}]`,
  );
}

import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import { Batch, type PausedSequence } from './batch.ts';
import { createSequences, type Prompt } from './create-sequences.ts';
import type { RolloutPrecision } from './decode-weights.ts';
import { createCache, Decoder } from './decoder.ts';
import type { GenerationOptions } from './generation-options.ts';
import { chooseSlots } from './kv-cache.ts';
import { PausedEpisodes } from './paused-episodes.ts';
import { Sampler } from './sampler/sampler.ts';
import type { GeneratedText, Sequence, TokenEvent } from './sequence.ts';

/** The model that a `Generator` samples from, and its precision and batch size. */
export interface GeneratorOptions {
  readonly base: BaseModel;
  readonly tokenizer: Tokenizer;
  readonly adapter?: LoraAdapter | undefined;
  /** `f32` by default. */
  readonly precision?: RolloutPrecision;
  /** Texts to generate together; by default 32, or as many as fit into 1 GiB of keys and values. */
  readonly batchSize?: number | undefined;
}

/**
 * Generates texts token by token. Waiting prompts replace finished texts in the batch; samples of one
 * prompt share its prefill.
 */
export class Generator {
  private readonly options: GeneratorOptions;
  private decoder: Promise<Decoder> | undefined;

  constructor(options: GeneratorOptions) {
    this.options = options;
  }

  /** Generates all texts and returns them in the order of prompts and samples. */
  async generate(
    prompts: readonly Prompt[],
    options: GenerationOptions = {},
  ): Promise<GeneratedText[]> {
    const texts: GeneratedText[] = [];
    for await (const { finished } of this.run(prompts, options)) {
      if (finished === undefined) continue;
      texts.push(finished);
      options.onText?.(finished);
    }
    return texts.sort((a, b) => a.prompt - b.prompt || a.sample - b.sample);
  }

  /** Frees the decoder's sessions and caches; the generator can be used again and then rebuilds them. */
  async dispose(): Promise<void> {
    await (await this.decoder)?.dispose();
    this.decoder = undefined;
  }

  /** Yields the tokens of all texts as they are sampled. */
  async *stream(
    prompts: readonly Prompt[],
    options: Omit<GenerationOptions, 'environment'> = {},
  ): AsyncGenerator<TokenEvent> {
    for await (const { event } of this.run(prompts, options)) if (event !== undefined) yield event;
  }

  /** Yields tokens and finished texts. A turn of an episode frees its slot until the environment has
   *  answered; prompts that wait use it meanwhile. */
  private async *run(
    prompts: readonly Prompt[],
    options: GenerationOptions,
  ): AsyncGenerator<{
    readonly event?: TokenEvent;
    readonly finished?: GeneratedText | undefined;
  }> {
    const { tokenizer, base } = this.options;
    const context = base.architecture.config.max_position_embeddings;
    const waiting = createSequences(prompts, options, { tokenizer, context });
    const answered: PausedSequence[] = [];
    const paused = new PausedEpisodes(options);
    const batch = await this.createBatch(waiting, options);
    try {
      while (waiting.length + answered.length + batch.size + paused.size > 0) {
        options.signal?.throwIfAborted();
        if (answered.length > 0 && batch.free > 0) await batch.resume(answered);
        else if (waiting.length + batch.size > 0) {
          const admits = waiting.length > 0 && batch.free > 0;
          const events = admits ? await batch.admit(waiting) : await batch.step();
          for (const event of events) yield { event, finished: event.finished };
          paused.take(batch);
          batch.removeFinished();
        } else {
          const { continued, finished } = await paused.settle();
          answered.push(...continued);
          for (const text of finished) yield { finished: text };
        }
      }
    } finally {
      batch.dispose();
    }
  }

  private async createBatch(
    sequences: readonly Sequence[],
    options: GenerationOptions,
  ): Promise<Batch> {
    const { base, adapter, precision = 'f32' } = this.options;
    const { config } = base.architecture;
    const longest = Math.max(
      ...sequences.map(({ parts }) => parts.promptTokens.length + parts.rules.maxTokens),
    );
    const { batchSize = chooseSlots(config, longest) } = this.options;
    const slots = Math.min(batchSize, sequences.length);
    this.decoder ??= Decoder.create(base, { adapter, precision });
    const cache = createCache(base, slots);
    return new Batch(await this.decoder, {
      slots,
      sampler: new Sampler(options),
      penalised: (options.repetitionPenalty ?? 1) !== 1,
      cache,
      promptPasses: options.promptPasses,
      trunk: options.trunk,
    });
  }
}

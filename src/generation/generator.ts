import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import { Batch } from './batch.ts';
import { createSequences, type Prompt } from './create-sequences.ts';
import type { RolloutPrecision } from './decode-weights.ts';
import { createCache, Decoder } from './decoder.ts';
import type { GenerationOptions } from './generation-options.ts';
import { chooseSlots } from './kv-cache.ts';
import { Sampler } from './sampler/sampler.ts';
import type { GeneratedText, TokenEvent } from './sequence.ts';

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
    for await (const { finished } of this.stream(prompts, options)) {
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
    options: GenerationOptions = {},
  ): AsyncGenerator<TokenEvent> {
    const { base, adapter, tokenizer, precision = 'f32' } = this.options;
    const { config } = base.architecture;
    const context = config.max_position_embeddings;
    const waiting = createSequences(prompts, options, { tokenizer, context });
    const longest = Math.max(
      ...waiting.map(({ parts }) => parts.promptTokens.length + parts.rules.maxTokens),
    );
    const { batchSize = chooseSlots(config, longest) } = this.options;
    const slots = Math.min(batchSize, waiting.length);
    this.decoder ??= Decoder.create(base, { adapter, precision });
    const cache = createCache(base, slots);
    const batch = new Batch(await this.decoder, {
      slots,
      sampler: new Sampler(options),
      penalised: (options.repetitionPenalty ?? 1) !== 1,
      cache,
      promptPasses: options.promptPasses,
      trunk: options.trunk,
    });
    try {
      while (waiting.length > 0 || batch.size > 0) {
        options.signal?.throwIfAborted();
        const events =
          waiting.length > 0 && batch.free > 0 ? await batch.admit(waiting) : await batch.step();
        yield* events;
        batch.removeFinished();
      }
    } finally {
      cache.free();
    }
  }
}

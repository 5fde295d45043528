import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import { StreamingDecoder, type Tokenizer } from '../base-setup/tokenizer/index.ts';
import { randomStream } from '../engine/random/index.ts';
import type { BaseModel } from '../models/decoder/base-model.ts';
import type { RolloutPrecision } from './decode-weights.ts';
import { Decoder } from './decoder.ts';
import { type GenerationOptions, resolveGenerationOptions } from './generation-options.ts';
import { KvCache } from './kv-cache.ts';
import { Sampler } from './sampler/sampler.ts';
import { type GeneratedText, Sequence, type TokenEvent } from './sequence.ts';

export interface GeneratorOptions {
  readonly base: BaseModel;
  readonly tokenizer: Tokenizer;
  readonly adapter?: LoraAdapter | undefined;
  /** `f32` by default. */
  readonly precision?: RolloutPrecision;
  /** Texts that are generated at once; 8 by default. */
  readonly batchSize?: number;
}

/** A prompt as text, or as tokens that are taken as they are. */
export type Prompt = string | ArrayLike<number>;

/** Prompts that run together in one prefill hold at most this many tokens. */
const PREFILL_TOKENS = 1024;

/**
 * Generates texts token by token. Finished texts leave the batch and waiting prompts take their
 * places; samples of one prompt share its prefill.
 */
export class Generator {
  private readonly options: GeneratorOptions;
  private readonly batchSize: number;
  private decoder: Promise<Decoder> | undefined;

  constructor(options: GeneratorOptions) {
    this.options = options;
    this.batchSize = options.batchSize ?? 8;
  }

  /** All texts, in the order of prompts and samples. */
  async generate(
    prompts: readonly Prompt[],
    options: GenerationOptions = {},
  ): Promise<GeneratedText[]> {
    const texts: GeneratedText[] = [];
    for await (const { finished } of this.stream(prompts, options)) {
      if (finished !== undefined) texts.push(finished);
    }
    return texts.sort((a, b) => a.prompt - b.prompt || a.sample - b.sample);
  }

  async dispose(): Promise<void> {
    await (await this.decoder)?.dispose();
    this.decoder = undefined;
  }

  /** Tokens of all texts as they come. */
  async *stream(
    prompts: readonly Prompt[],
    options: GenerationOptions = {},
  ): AsyncGenerator<TokenEvent> {
    const { base, adapter, precision = 'f32' } = this.options;
    const waiting = this.plan(prompts, options);
    this.decoder ??= Decoder.create(base, { adapter, precision });
    const batch = new Batch(await this.decoder, {
      slots: Math.min(this.batchSize, waiting.length),
      sampler: new Sampler(options),
      penalised: (options.repetitionPenalty ?? 1) !== 1,
      cache: new KvCache(base.architecture.config, Math.min(this.batchSize, waiting.length)),
    });
    while (waiting.length > 0 || batch.size > 0) {
      options.signal?.throwIfAborted();
      const events =
        waiting.length > 0 && batch.free > 0 ? await batch.admit(waiting) : await batch.step();
      yield* events;
      batch.removeFinished();
    }
  }

  /** One sequence for each sample of each prompt, in order. */
  private plan(prompts: readonly Prompt[], options: GenerationOptions): Sequence[] {
    const { tokenizer, base } = this.options;
    const { seed, streamKey, stopStrings, maxNewTokens, numReturnSequences } =
      resolveGenerationOptions(options);
    const stopTokens = new Set<number>(options.stopTokenIds ?? tokenizer.eosIds);
    const context = base.architecture.config.max_position_embeddings;
    return prompts.flatMap((text, prompt) => {
      const promptTokens =
        typeof text === 'string' ? tokenizer.encode(text) : Int32Array.from(text);
      expectFit(promptTokens.length, { prompt, context });
      const maxTokens = Math.min(maxNewTokens, context - promptTokens.length);
      return Array.from({ length: numReturnSequences }, (_, sample) => {
        const random = randomStream(seed, 'generation', ...streamKey, prompt, sample);
        const decoder = new StreamingDecoder(tokenizer, {
          after: promptTokens,
          skipSpecialTokens: true,
        });
        const rules = { stopTokens, stopStrings, maxTokens };
        return new Sequence({ prompt, sample, promptTokens, random, decoder, rules });
      });
    });
  }
}

function expectFit(length: number, { prompt, context }: { prompt: number; context: number }): void {
  if (length === 0) {
    throw new RangeError(
      `Cannot generate: prompt ${prompt} must hold at least one token, got none`,
    );
  }
  if (length >= context) {
    throw new RangeError(
      `Cannot generate: prompt ${prompt} must be shorter than the model's context of ${context} tokens, got ${length}; cut it or choose a model with a longer context`,
    );
  }
}

interface BatchParts {
  readonly slots: number;
  readonly sampler: Sampler;
  readonly cache: KvCache;
  /** Whether the sampler wants to know the tokens so far. */
  readonly penalised: boolean;
}

/** The texts being generated: the i-th one has slot i of the cache. */
class Batch {
  private readonly decoder: Decoder;
  private readonly slots: number;
  private readonly sampler: Sampler;
  private readonly cache: KvCache;
  private readonly penalised: boolean;
  private readonly active: Sequence[] = [];

  constructor(decoder: Decoder, parts: BatchParts) {
    this.decoder = decoder;
    this.slots = parts.slots;
    this.sampler = parts.sampler;
    this.cache = parts.cache;
    this.penalised = parts.penalised;
  }

  get size(): number {
    return this.active.length;
  }

  get free(): number {
    return this.slots - this.active.length;
  }

  /** Runs the prompts of waiting sequences that find a place, each prompt once; draws their first tokens. */
  async admit(waiting: Sequence[]): Promise<TokenEvent[]> {
    const first = this.active.length;
    const admitted = takeFitting(waiting, this.free);
    this.active.push(...admitted);
    const leaders = admitted.filter((sequence, i) => !sharesPrompt(sequence, admitted[i - 1]));
    const leaderSlots = leaders.map((leader) => this.active.indexOf(leader));
    const prompts = leaders.map(({ parts }) => parts.promptTokens);
    const { data, shape } = await this.decoder.prefill(prompts, leaderSlots, this.cache);
    return admitted.map((sequence, i) => {
      const leader = leaders.findIndex((other) => sharesPrompt(other, sequence));
      const slot = first + i;
      if (leaderSlots[leader] !== slot) this.cache.copy(leaderSlots[leader]!, slot);
      return this.draw(sequence, rowOf(data, { row: leader, width: shape[1]! }));
    });
  }

  /** Draws the next token of every sequence. */
  async step(): Promise<TokenEvent[]> {
    const tokens = Int32Array.from(this.active, ({ lastToken }) => lastToken);
    const { data, shape } = await this.decoder.step(tokens, this.cache);
    return this.active.map((sequence, row) =>
      this.draw(sequence, rowOf(data, { row, width: shape[1]! })),
    );
  }

  /** Takes finished sequences out; the last ones move into their places. */
  removeFinished(): void {
    for (let slot = this.active.length - 1; slot >= 0; slot--) {
      const sequence = this.active[slot]!;
      if (sequence.finishReason === undefined) continue;
      const last = this.active.pop()!;
      if (last !== sequence) {
        this.active[slot] = last;
        this.cache.copy(this.active.length, slot);
      }
    }
  }

  private draw(sequence: Sequence, logits: Float32Array<ArrayBuffer>): TokenEvent {
    const uniform = sequence.parts.random.next();
    const seen = this.penalised ? sequence.seen() : [];
    return sequence.accept(this.sampler.sample(logits, { uniform, seen }));
  }
}

/** Takes as many sequences as fit into the free slots and one prefill, at least one. */
function takeFitting(waiting: Sequence[], free: number): Sequence[] {
  let tokens = 0;
  let count = 0;
  while (count < Math.min(free, waiting.length)) {
    const next = waiting[count]!;
    if (!sharesPrompt(next, waiting[count - 1])) tokens += next.parts.promptTokens.length;
    if (count > 0 && tokens > PREFILL_TOKENS) break;
    count++;
  }
  return waiting.splice(0, count);
}

function sharesPrompt(a: Sequence, b: Sequence | undefined): boolean {
  return a.parts.prompt === b?.parts.prompt;
}

function rowOf(
  data: Float32Array,
  { row, width }: { row: number; width: number },
): Float32Array<ArrayBuffer> {
  return data.subarray(row * width, (row + 1) * width) as Float32Array<ArrayBuffer>;
}

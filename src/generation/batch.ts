import { freePass, passOfRows } from '../models/decoder/pass.ts';
import type { Trunk } from '../models/decoder/trunk.ts';
import type { Decoder } from './decoder.ts';
import type { PromptPasses } from './generation-options.ts';
import type { KvStore } from './kv-cache.ts';
import type { Sampler } from './sampler/sampler.ts';
import type { RowSums } from './sampler/softmax-row.ts';
import type { Sequence, TokenEvent } from './sequence.ts';

/** Maximum number of prompt tokens in one prefill. */
const PREFILL_TOKENS = 1024;

interface BatchOptions {
  readonly slots: number;
  readonly sampler: Sampler;
  readonly cache: KvStore;
  /** Whether the sampler needs the tokens so far. */
  readonly penalised: boolean;
  /** Receives the passes over prompts, if set. */
  readonly promptPasses?: PromptPasses | undefined;
  readonly trunk?: Trunk | undefined;
}

/** The texts being generated; text i uses slot i of the cache. */
export class Batch {
  private readonly decoder: Decoder;
  private readonly slots: number;
  private readonly sampler: Sampler;
  private readonly cache: KvStore;
  private readonly penalised: boolean;
  private readonly promptPasses: PromptPasses | undefined;
  private readonly trunk: Trunk | undefined;
  private readonly active: Sequence[] = [];
  /** Logits after prompts that have more waiting samples. */
  private readonly firstLogits = new Map<number, Float32Array<ArrayBuffer>>();

  constructor(decoder: Decoder, options: BatchOptions) {
    this.decoder = decoder;
    this.slots = options.slots;
    this.sampler = options.sampler;
    this.cache = options.cache;
    this.penalised = options.penalised;
    this.promptPasses = options.promptPasses;
    this.trunk = options.trunk;
  }

  get size(): number {
    return this.active.length;
  }

  get free(): number {
    return this.slots - this.active.length;
  }

  /**
   * Moves waiting sequences into free slots and samples their first tokens. A prompt runs once for the
   * samples admitted together, and not at all while another of its samples is in the batch.
   */
  async admit(waiting: Sequence[]): Promise<TokenEvent[]> {
    const first = this.active.length;
    const sources = this.promptSlots();
    const admitted = takeFitting(waiting, this.free);
    this.active.push(...admitted);
    const leaders = admitted.filter(({ parts }, i) => {
      if (sources.has(parts.prompt)) return false;
      sources.set(parts.prompt, first + i);
      return true;
    });
    await this.prefill(leaders, sources);
    const events = admitted.map((sequence, i) => {
      const { prompt, promptTokens } = sequence.parts;
      const source = sources.get(prompt)!;
      if (source !== first + i) this.cache.copy(source, first + i);
      this.cache.setLength(first + i, promptTokens.length);
      return this.sampleToken(sequence, this.firstLogits.get(prompt)!);
    });
    for (const prompt of this.firstLogits.keys()) {
      if (waiting[0]?.parts.prompt !== prompt) this.firstLogits.delete(prompt);
    }
    return events;
  }

  /** Slots of prompts whose logits are known. */
  private promptSlots(): Map<number, number> {
    const slots = this.active.map(({ parts }, slot) => [parts.prompt, slot] as const);
    return new Map(slots.filter(([prompt]) => this.firstLogits.has(prompt)));
  }

  private async prefill(
    leaders: readonly Sequence[],
    slots: ReadonlyMap<number, number>,
  ): Promise<void> {
    if (leaders.length === 0) return;
    const { logits, pass } = await this.decoder.prefill(
      leaders.map(({ parts }) => parts.promptTokens),
      {
        slots: leaders.map(({ parts }) => slots.get(parts.prompt)!),
        cache: this.cache,
        save: this.promptPasses?.save,
        trunk: this.trunk,
      },
    );
    const { data, shape } = logits;
    for (const [row, { parts }] of leaders.entries()) {
      const rows = pass.batch.rows[row]!;
      const span = { start: rows[0]!, end: rows.at(-1)! + 1 };
      this.promptPasses?.passes.set(parts.prompt, await passOfRows(pass, span));
      this.firstLogits.set(parts.prompt, rowOf(data, { row, width: shape[1]! }));
    }
    freePass(pass);
  }

  /** Samples the next token of every sequence. */
  async step(): Promise<TokenEvent[]> {
    const tokens = Int32Array.from(this.active, ({ lastToken }) => lastToken);
    const { logits, sumsOf } = await this.decoder.step(
      tokens,
      this.cache,
      this.sampler.temperature,
    );
    const { data, shape } = logits;
    return this.active.map((sequence, row) =>
      this.sampleToken(sequence, rowOf(data, { row, width: shape[1]! }), sumsOf(row)),
    );
  }

  /** Removes finished sequences and fills their slots with the last ones. */
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

  private sampleToken(
    sequence: Sequence,
    logits: Float32Array<ArrayBuffer>,
    sums?: RowSums | undefined,
  ): TokenEvent {
    const { random, topLogprobs } = sequence.parts;
    const uniform = random.next();
    const seen = this.penalised ? sequence.seen() : [];
    return sequence.accept(this.sampler.sample(logits, { uniform, seen, topLogprobs, sums }));
  }
}

/** Removes as many waiting sequences as fit into the free slots and one prefill, at least one. */
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

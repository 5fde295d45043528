import { lengthsOf } from '../columns/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import { type RandomStream, randomStream } from '../engine/random/index.ts';
import { countObserved } from '../generation/index.ts';
import { PairList } from '../token-attribution/pair-list.ts';
import {
  byteLengthOf,
  checkExperience,
  concatExperiences,
  type Experience,
  restoreExperience,
  type SavedExperience,
  saveExperience,
  selectSequences,
} from './experience.ts';

/**
 * The order in which sequences are sampled. Three strategies pass over all sequences, each exactly once:
 * `shuffled`; `sequential`, oldest first; and `by-length`, which batches sequences of similar length so
 * that attention pads less, and shuffles the batches. `uniform` samples with replacement.
 */
export type SamplingStrategy = PPOConfig['bufferSampling'];

/** What `store()` does when the capacity is exceeded: `drop-oldest` removes as many of the oldest
 *  sequences as necessary, `clear` all earlier ones, and `refuse` throws. */
export type OverflowPolicy = PPOConfig['bufferOverflow'];

/** Capacity, overflow behaviour and sampling of an `ExperienceBuffer`. */
export interface ExperienceBufferOptions {
  /** Maximum number of sequences; unlimited by default. */
  readonly capacity?: number;
  /** What `store()` does when the capacity is exceeded; `refuse` by default. */
  readonly overflow?: OverflowPolicy;
  /** `shuffled` by default. */
  readonly sampling?: SamplingStrategy;
  /** 0 by default. */
  readonly seed?: number;
  /** Whether the contents outlive `endStep()`; false by default. */
  readonly reuse?: boolean;
}

/** The PPO config's keys that define the buffer. */
export type BufferConfig = Pick<
  PPOConfig,
  'seed' | 'batchSize' | 'samplesPerPrompt' | 'bufferSampling' | 'bufferCapacity' | 'bufferOverflow'
>;

/** The step and PPO epoch, which determine the order of mini-batches. */
export interface MiniBatchOptions {
  readonly step: number;
  readonly ppoEpoch: number;
}

/** Stores the experience of whole sequences and returns it in batches. */
export class ExperienceBuffer {
  readonly capacity: number;
  private readonly overflow: OverflowPolicy;
  private readonly sampling: SamplingStrategy;
  private readonly seed: number;
  private readonly reuse: boolean;
  /** Replaced, never changed in place, so that iterators and snapshots stay valid. */
  private held = concatExperiences([]);
  private pass: SamplingPass | undefined;
  private passes = 0;

  constructor(options: ExperienceBufferOptions = {}) {
    const { capacity = Infinity, overflow = 'refuse', sampling = 'shuffled', seed = 0 } = options;
    const { reuse = false } = options;
    if (capacity !== Infinity) expectCount(capacity, 'create an experience buffer: capacity');
    this.capacity = capacity;
    this.overflow = overflow;
    this.sampling = sampling;
    this.seed = seed;
    this.reuse = reuse;
  }

  /** The buffer of a PPO run. With `drop-oldest`, `bufferCapacity` is the number of newest responses
   *  that an update learns from. */
  static forConfig(config: BufferConfig): ExperienceBuffer {
    const { seed, bufferSampling: sampling, bufferOverflow: overflow } = config;
    const capacity = capacityOf(config);
    const reuse = capacity > responsesPerStep(config);
    return new ExperienceBuffer({ capacity, overflow, sampling, seed, reuse });
  }

  /** Responses that the buffer of a PPO run holds during the update of a step, counted from 0.
   *  @example 8 responses per step, bufferCapacity 20
   *    drop-oldest  →  8, 16, 20, 20, …
   *    clear        →  8, 16, 8, 16, … */
  static sizeAt(step: number, config: BufferConfig): number {
    const responses = responsesPerStep(config);
    const capacity = capacityOf(config);
    if (config.bufferOverflow !== 'clear') return Math.min((step + 1) * responses, capacity);
    return ((step % Math.floor(capacity / responses)) + 1) * responses;
  }

  /** Number of sequences. */
  get size(): number {
    return this.held.sequences.length;
  }

  /** Number of response tokens. */
  get tokenCount(): number {
    return this.held.tokens.length;
  }

  /** Bytes of the columns and the prompts' tokens; texts are not counted. */
  get byteLength(): number {
    return byteLengthOf(this.held);
  }

  /**
   * Adds sequences and starts a new pass. Earlier sequences get new prompt indices, above those of
   * `experience`, so that an index means one prompt. An empty buffer keeps the columns without a copy.
   */
  store(experience: Experience): void {
    checkExperience(experience);
    const count = experience.sequences.length;
    const surplus = this.size + count - this.capacity;
    if (surplus > 0 && this.overflow === 'refuse') {
      throw new RangeError(
        `Cannot store an experience: the buffer must have room for ${count} sequences, got ${this.size} of ${this.capacity} in use; clear it, raise its capacity (bufferCapacity) or set overflow (bufferOverflow) to drop-oldest`,
      );
    }
    if (surplus > 0 && this.overflow === 'clear') this.clear();
    const joined =
      this.size === 0
        ? experience
        : concatExperiences([shiftPrompts(this.held, promptCount(experience)), experience]);
    const { length } = joined.sequences;
    const first = Math.max(0, length - this.capacity);
    this.held = first > 0 ? selectSequences(joined, range(first, length)) : joined;
    this.pass = undefined;
  }

  /** Samples a batch. A pass continues from call to call; its last batch may be smaller. */
  sampleBatch(batchSize: number): Experience {
    expectCount(batchSize, 'sample a batch: batchSize');
    if (this.size === 0) {
      throw new RangeError(
        'Cannot sample a batch: the buffer must hold at least one sequence, got none; store an experience first',
      );
    }
    if (this.sampling === 'uniform') {
      const random = this.nextStream();
      const indices = Array.from({ length: batchSize }, () => random.integer(this.size));
      return selectSequences(this.held, indices);
    }
    if (this.pass === undefined || this.pass.isDone) {
      const options = { sampling: this.sampling, random: this.nextStream() };
      this.pass = new SamplingPass(contextLengths(this.held), options);
    }
    return selectSequences(this.held, this.pass.take(batchSize));
  }

  /** The batches of one PPO epoch: as many samples as the buffer holds sequences, by the buffer's
   *  strategy. One batch may be smaller. The order depends on seed, step and epoch only. */
  miniBatches(size: number, { step, ppoEpoch }: MiniBatchOptions): Iterable<Experience> {
    expectCount(size, 'create minibatches: size');
    const random = randomStream(this.seed, 'minibatches', step, ppoEpoch);
    return iterateBatches(this.held, { size, sampling: this.sampling, random });
  }

  /** Views of all (state, action) pairs. */
  pairs(): PairList {
    return new PairList(this.held);
  }

  /** Removes all experience. */
  clear(): void {
    this.held = concatExperiences([]);
    this.pass = undefined;
  }

  /** Ends a PPO step: clears the buffer unless later steps reuse its contents. */
  endStep(): void {
    if (!this.reuse) this.clear();
  }

  /** Remembers the contents; the returned function restores them. */
  snapshot(): () => void {
    const { held } = this;
    return () => {
      this.held = held;
      this.pass = undefined;
    };
  }

  /** The contents as JSON data, for a checkpoint. */
  state(): SavedExperience {
    return saveExperience(this.held);
  }

  /** Restores what `state()` returned; the numbers are exactly the same. */
  restore(state: unknown): void {
    this.held = restoreExperience(state);
    this.pass = undefined;
  }

  private nextStream(): RandomStream {
    return randomStream(this.seed, 'sample-batch', this.passes++);
  }
}

interface SamplingOptions<Strategy = SamplingStrategy> {
  readonly sampling: Strategy;
  readonly random: RandomStream;
}

function* iterateBatches(
  experience: Experience,
  { size, sampling, random }: SamplingOptions & { size: number },
): Generator<Experience> {
  const { length } = experience.sequences;
  if (sampling === 'uniform') {
    for (let start = 0; start < length; start += size) {
      const count = Math.min(size, length - start);
      const indices = Array.from({ length: count }, () => random.integer(length));
      yield selectSequences(experience, indices);
    }
    return;
  }
  const pass = new SamplingPass(contextLengths(experience), { sampling, random });
  while (!pass.isDone) yield selectSequences(experience, pass.take(size));
}

/** One pass over sequences of the given lengths, which takes each exactly once. */
class SamplingPass {
  private readonly options: SamplingOptions<Exclude<SamplingStrategy, 'uniform'>>;
  private readonly remaining: number[];

  constructor(
    lengths: readonly number[],
    options: SamplingOptions<Exclude<SamplingStrategy, 'uniform'>>,
  ) {
    const { sampling, random } = options;
    const indices = lengths.map((_, i) => i);
    this.options = options;
    this.remaining = sampling === 'sequential' ? indices : random.shuffle(indices);
    // The sort is stable, so sequences of equal length stay shuffled.
    if (sampling === 'by-length') this.remaining.sort((a, b) => lengths[a]! - lengths[b]!);
  }

  get isDone(): boolean {
    return this.remaining.length === 0;
  }

  /** The next batch; the last one, or with `by-length` the one with the longest, may be smaller. */
  take(size: number): number[] {
    const { sampling, random } = this.options;
    const batches = Math.ceil(this.remaining.length / size);
    const start = sampling === 'by-length' && batches > 0 ? size * random.integer(batches) : 0;
    return this.remaining.splice(start, size);
  }
}

/** Tokens that attention sees per sequence: prompt, response and observations. */
function contextLengths({ sequences, offsets }: Experience): number[] {
  return lengthsOf(offsets).map((length, i) => {
    const { promptTokens, observations } = sequences[i]!;
    return promptTokens.length + length + countObserved(observations);
  });
}

function promptCount({ sequences }: Experience): number {
  return sequences.reduce((count, { promptIdx }) => Math.max(count, promptIdx + 1), 0);
}

function shiftPrompts(experience: Experience, by: number): Experience {
  const sequences = experience.sequences.map((sequence) => ({
    ...sequence,
    promptIdx: sequence.promptIdx + by,
  }));
  return { ...experience, sequences };
}

function responsesPerStep({ batchSize, samplesPerPrompt }: BufferConfig): number {
  return batchSize * samplesPerPrompt;
}

function capacityOf(config: BufferConfig): number {
  const responses = responsesPerStep(config);
  const { bufferCapacity = responses } = config;
  if (bufferCapacity >= responses) return bufferCapacity;
  throw new RangeError(
    `Cannot create an experience buffer: bufferCapacity must be at least batchSize × samplesPerPrompt (${responses}), got ${bufferCapacity}`,
  );
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

function expectCount(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`Cannot ${what} must be a whole number ≥ 1, got ${value}`);
  }
}

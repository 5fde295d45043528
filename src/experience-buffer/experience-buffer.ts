import { randomStream } from '../engine/random/index.ts';
import { PairList } from '../token-attribution/pair-list.ts';
import type { Experience } from './experience.ts';
import { byteLengthOf, checkExperience } from './experience-columns.ts';
import { type PassStrategy, SamplingPass } from './sampling-pass.ts';
import { concatExperiences, selectSequences } from './select-sequences.ts';

/** How batches are drawn: in passes that take every sequence once, or each sequence anew. */
export type SamplingStrategy = PassStrategy | 'uniform';

export interface ExperienceBufferOptions {
  /** Most sequences that it holds; no limit by default. */
  readonly capacity?: number;
  /** What `store()` does with more than that; `refuse` by default. */
  readonly overflow?: 'drop-oldest' | 'refuse';
  /** How `sampleBatch()` draws; `shuffled` by default. */
  readonly strategy?: SamplingStrategy;
  /** 0 by default. */
  readonly seed?: number;
}

export interface MiniBatchOptions {
  readonly step: number;
  readonly ppoEpoch: number;
  /** `shuffled` by default. */
  readonly strategy?: PassStrategy;
}

/** Holds experience of whole sequences and gives it out in batches. */
export class ExperienceBuffer {
  readonly capacity: number;
  private readonly overflow: 'drop-oldest' | 'refuse';
  private readonly strategy: SamplingStrategy;
  private readonly seed: number;
  private held = concatExperiences([]);
  private pass: SamplingPass | undefined;
  private passes = 0;

  constructor(options: ExperienceBufferOptions = {}) {
    const { capacity = Infinity, overflow = 'refuse', strategy = 'shuffled', seed = 0 } = options;
    if (capacity !== Infinity) expectCount(capacity, 'make an experience buffer: capacity');
    this.capacity = capacity;
    this.overflow = overflow;
    this.strategy = strategy;
    this.seed = seed;
  }

  /** Sequences held. */
  get size(): number {
    return this.held.sequences.length;
  }

  /** Response tokens held. */
  get tokenCount(): number {
    return this.held.tokens.length;
  }

  /** Bytes of the columns and of the prompts' tokens; texts are not counted. */
  get byteLength(): number {
    return byteLengthOf(this.held);
  }

  /** Adds sequences and starts a new pass. An empty buffer holds the columns themselves, not copies. */
  store(experience: Experience): void {
    checkExperience(experience);
    const count = experience.sequences.length;
    const surplus = this.size + count - this.capacity;
    if (surplus > 0 && this.overflow === 'refuse') {
      throw new RangeError(
        `Cannot store an experience: the buffer must have room for its ${count} sequences, got ${this.size} of ${this.capacity} places taken; clear it, raise its capacity or let overflow be drop-oldest`,
      );
    }
    const joined = this.size === 0 ? experience : concatExperiences([this.held, experience]);
    const { length } = joined.sequences;
    this.held = surplus > 0 ? selectSequences(joined, wholeNumbers(surplus, length)) : joined;
    this.pass = undefined;
  }

  /** A batch by the strategy. A pass goes on from call to call; its last batch may be smaller. */
  sampleBatch(batchSize: number): Experience {
    expectCount(batchSize, 'sample a batch: batchSize');
    if (this.size === 0) {
      throw new RangeError(
        'Cannot sample a batch: the buffer must hold at least one sequence, got none; store an experience first',
      );
    }
    return selectSequences(this.held, this.draw(batchSize));
  }

  /** Every sequence once, in batches of which one may be smaller: one PPO epoch. The order depends
   *  on seed, step and epoch alone. */
  miniBatches(size: number, options: MiniBatchOptions): Iterable<Experience> {
    expectCount(size, 'cut minibatches: size');
    return cutMiniBatches(this.held, { ...options, size, seed: this.seed });
  }

  /** The (state, action) pairs of all sequences, made as they are read. */
  pairs(): PairList {
    return new PairList(this.held);
  }

  clear(): void {
    this.held = concatExperiences([]);
    this.pass = undefined;
  }

  private draw(batchSize: number): number[] {
    const { strategy } = this;
    if (strategy === 'uniform') {
      const random = this.nextStream();
      return Array.from({ length: batchSize }, () => random.integer(this.size));
    }
    if (this.pass === undefined || this.pass.isDone) {
      const options = { strategy, random: this.nextStream() };
      this.pass = new SamplingPass(lengthsOf(this.held), options);
    }
    return this.pass.take(batchSize);
  }

  private nextStream() {
    return randomStream(this.seed, 'sample-batch', this.passes++);
  }
}

function* cutMiniBatches(
  experience: Experience,
  options: MiniBatchOptions & { size: number; seed: number },
): Generator<Experience> {
  const { size, seed, step, ppoEpoch, strategy = 'shuffled' } = options;
  const random = randomStream(seed, 'minibatches', step, ppoEpoch);
  const pass = new SamplingPass(lengthsOf(experience), { strategy, random });
  while (!pass.isDone) yield selectSequences(experience, pass.take(size));
}

/** Tokens that attention sees: prompt and response. */
function lengthsOf({ sequences, offsets }: Experience): number[] {
  return sequences.map(
    ({ promptTokens }, i) => promptTokens.length + offsets[i + 1]! - offsets[i]!,
  );
}

function wholeNumbers(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

function expectCount(value: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`Cannot ${what} must be a whole number ≥ 1, got ${value}`);
  }
}

import { createHash } from 'node:crypto';
import { Sfc32, type Sfc32State } from './sfc32.ts';

/** What names a stream: a purpose, a step, the number of a prompt, … */
export type StreamKey = string | number;

/** Position of a random stream, which a checkpoint can store. */
export type RandomState = Sfc32State;

/** A stream of random numbers that depends on its seed and keys alone: the same on every
 *  machine, in every batch, before and after a resume.
 *
 *  sfc32 starts from the first three words (big-endian) of SHA-256 of the JSON text
 *  `[seed, ...keys]` in UTF-8. JSON keeps ('a', 1), ('a', '1') and ('a1') apart; −0 counts as 0.
 *  @example randomStream(42, 'sampling', 7, 0, 3, 11).next()  →  0.4225351490336946 */
export function randomStream(seed: StreamKey, ...keys: readonly StreamKey[]): RandomStream {
  const names = [seed, ...keys];
  for (const name of names) {
    if (typeof name !== 'string' && !Number.isFinite(name)) {
      throw new TypeError(
        `Cannot make a random stream: seed and keys must be strings or finite numbers, got ${name}`,
      );
    }
  }
  const digest = createHash('sha256').update(JSON.stringify(names)).digest();
  const words = [0, 4, 8].map((offset) => digest.readUInt32BE(offset));
  return new RandomStream(new Sfc32(words as [number, number, number]));
}

/** Random numbers from one generator; made by `randomStream()`. */
export class RandomStream {
  private readonly generator: Sfc32;

  constructor(generator: Sfc32) {
    this.generator = generator;
  }

  /** Uniform in [0, 1): the next whole number below 2⁵³, divided by 2⁵³. */
  next(): number {
    return this.nextWhole() / 2 ** 53;
  }

  /** Standard normal, by Box and Muller: √(−2 ln(1 − u₁)) · cos(2πu₂).
   *  The sine of the pair is not used, so that a state is nothing but the generator's. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  /** A whole number from 0 to n − 1, each as likely as any other.
   *  Draws at or above the largest multiple of n below 2⁵³ are thrown away. */
  integer(n: number): number {
    if (!Number.isSafeInteger(n) || n < 1) {
      throw new RangeError(
        `Cannot draw an integer: n must be a whole number from 1 to 2⁵³ − 1, got ${n}`,
      );
    }
    const limit = 2 ** 53 - (2 ** 53 % n);
    let drawn = this.nextWhole();
    while (drawn >= limit) drawn = this.nextWhole();
    return drawn % n;
  }

  /** A copy in random order, by Fisher and Yates from the last element down. */
  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
    }
    return shuffled;
  }

  /** Four unsigned 32-bit numbers, to be saved in a checkpoint. */
  state(): RandomState {
    return this.generator.state();
  }

  /** Takes over a saved state; numbers go on as if they had never stopped. */
  restore(state: RandomState): void {
    const isWord = (word: unknown) => Number.isInteger(word) && (word as number) >>> 0 === word;
    if (!Array.isArray(state) || state.length !== 4 || !state.every(isWord)) {
      throw new RangeError(
        `Cannot restore a random stream: the state must be four whole numbers from 0 to 2³² − 1, ` +
          `got ${JSON.stringify(state)}; restore what state() gave`,
      );
    }
    this.generator.restore(state);
  }

  /** A whole number below 2⁵³: 27 bits of one word, then 26 of the next. */
  private nextWhole(): number {
    const high = this.generator.nextWord() >>> 5;
    return high * 2 ** 26 + (this.generator.nextWord() >>> 6);
  }
}

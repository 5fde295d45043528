import { Sha256 } from '../hash/index.ts';

/** A part of a stream's name: a purpose, a step, the index of a prompt, … */
export type StreamKey = string | number;

/** Position of a random stream, which a checkpoint can store. */
export type RandomState = Sfc32State;

/** A stream of random numbers that depends only on its seed and keys: the same on every machine, in
 *  every batch, before and after a resume.
 *
 *  sfc32 starts from the first three words (big-endian) of SHA-256 of the JSON text
 *  `[seed, ...keys]` in UTF-8. JSON distinguishes ('a', 1), ('a', '1') and ('a1'); −0 is the same as 0.
 *  @example randomStream(42, 'sampling', 7, 0, 3, 11).next()  →  0.4225351490336946 */
export function randomStream(seed: StreamKey, ...keys: readonly StreamKey[]): RandomStream {
  const names = [seed, ...keys];
  for (const name of names) {
    if (typeof name !== 'string' && !Number.isFinite(name)) {
      throw new TypeError(
        `Cannot create a random stream: seed and keys must be strings or finite numbers, got ${name}`,
      );
    }
  }
  const [a, b, c] = new Sha256().update(JSON.stringify(names)).words();
  return new RandomStream(new Sfc32([a!, b!, c!]));
}

/** Random numbers from one generator; created by `randomStream()`. */
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
   *  The sine of the pair is not used, so the generator's state is the whole state. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  /** A uniform whole number from 0 to n − 1. Samples at or above the largest multiple of n below 2⁵³ are
   *  rejected. */
  integer(n: number): number {
    if (!Number.isSafeInteger(n) || n < 1) {
      throw new RangeError(
        `Cannot sample an integer: n must be a whole number from 1 to 2⁵³ − 1, got ${n}`,
      );
    }
    const limit = 2 ** 53 - (2 ** 53 % n);
    let sample = this.nextWhole();
    while (sample >= limit) sample = this.nextWhole();
    return sample % n;
  }

  /** A copy in random order (Fisher–Yates, from the last element down). */
  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
    }
    return shuffled;
  }

  /** Four unsigned 32-bit numbers, to save in a checkpoint. */
  state(): RandomState {
    return this.generator.state();
  }

  /** Restores a saved state; the next numbers equal those of an uninterrupted stream. */
  restore(state: RandomState): void {
    const isWord = (word: unknown) => Number.isInteger(word) && (word as number) >>> 0 === word;
    if (!Array.isArray(state) || state.length !== 4 || !state.every(isWord)) {
      throw new RangeError(
        `Cannot restore a random stream: the state must be four whole numbers from 0 to 2³² − 1, ` +
          `got ${JSON.stringify(state)}; restore a result of state()`,
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

/** The four words of a generator: unsigned 32-bit numbers, as saved in a checkpoint. */
export type Sfc32State = readonly [a: number, b: number, c: number, counter: number];

/** Small Fast Counting generator of 32-bit words, by Chris Doty-Humphrey (PractRand).
 *  out = a + b + counter++;  a ← b ⊕ (b ≫ 9);  b ← c + (c ≪ 3);  c ← rotl(c, 21) + out
 *  The counter makes every period at least 2³² long.
 *  @example new Sfc32([0, 2, 1]).nextWord()  →  0x03b80bb8 */
export class Sfc32 {
  /** a, b, c, counter: in an array, because V8 boxes such large numbers in fields. */
  private readonly words: Int32Array;

  /** Starts like PractRand: counter 1, and the first fifteen outputs are discarded. */
  constructor([a, b, c]: readonly [number, number, number]) {
    this.words = Int32Array.of(a, b, c, 1);
    for (let i = 0; i < 15; i++) this.nextWord();
  }

  /** The next word, from 0 to 2³² − 1. */
  nextWord(): number {
    const words = this.words;
    const b = words[1]!;
    const c = words[2]!;
    const out = (words[0]! + b + words[3]!) | 0;
    words[0] = b ^ (b >>> 9);
    words[1] = c + (c << 3);
    words[2] = ((c << 21) | (c >>> 11)) + out;
    words[3] = words[3]! + 1;
    return out >>> 0;
  }

  state(): Sfc32State {
    return [...Uint32Array.from(this.words)] as unknown as Sfc32State;
  }

  /** Restores a saved state; the next words equal those of an uninterrupted generator. */
  restore(state: Sfc32State): void {
    this.words.set(state);
  }
}

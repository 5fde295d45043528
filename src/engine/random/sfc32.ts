/** The four words of a generator: unsigned 32-bit numbers, as a checkpoint holds them. */
export type Sfc32State = readonly [a: number, b: number, c: number, counter: number];

/** Small Fast Counting generator of 32-bit words, by Chris Doty-Humphrey (PractRand).
 *  out = a + b + counter++;  a ← b ⊕ (b ≫ 9);  b ← c + (c ≪ 3);  c ← rotl(c, 21) + out
 *  The counter makes every period at least 2³² long.
 *  @example new Sfc32([0, 2, 1]).nextWord()  →  0x03b80bb8 */
export class Sfc32 {
  /** a, b, c, counter: in an array, since V8 boxes words this large in fields. */
  private readonly words: Int32Array;

  /** Starts as PractRand does: counter 1 and fifteen outputs thrown away. */
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

  /** Takes over a saved state; words go on as if they had never stopped. */
  restore(state: Sfc32State): void {
    this.words.set(state);
  }
}

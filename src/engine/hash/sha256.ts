/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4). */
const ROUND_CONSTANTS = Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));
/** The same of the square roots of the first 8 primes. */
const INITIAL = Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));
const BLOCK = 64;
const utf8 = new TextEncoder();
/** The message schedule of the block that is being compressed. */
const w = new Int32Array(BLOCK);

/**
 * SHA-256 (FIPS 180-4) of bytes that arrive in parts. It runs everywhere and synchronously, which neither
 * `node:crypto` nor the Web Crypto API does.
 * @example new Sha256().update('abc').hex()  →  'ba7816bf…'
 */
export class Sha256 {
  private readonly state = INITIAL.slice();
  private readonly block = new Uint8Array(BLOCK);
  /** Bytes in `block`. */
  private filled = 0;
  private length = 0;

  /** Adds bytes, or the UTF-8 bytes of a text. */
  update(part: Uint8Array | string): this {
    const bytes = typeof part === 'string' ? utf8.encode(part) : part;
    this.length += bytes.length;
    let start = 0;
    if (this.filled > 0) {
      start = Math.min(BLOCK - this.filled, bytes.length);
      this.block.set(bytes.subarray(0, start), this.filled);
      this.filled += start;
      if (this.filled < BLOCK) return this;
      this.compress(this.block, 0);
    }
    for (; start + BLOCK <= bytes.length; start += BLOCK) this.compress(bytes, start);
    this.block.set(bytes.subarray(start));
    this.filled = bytes.length - start;
    return this;
  }

  /** The eight words of the hash; nothing can be added after it. */
  words(): Uint32Array {
    const { block, filled } = this;
    block.fill(0, filled);
    block[filled] = 0x80;
    if (filled >= BLOCK - 8) {
      this.compress(block, 0);
      block.fill(0);
    }
    const end = new DataView(block.buffer, BLOCK - 8);
    end.setUint32(0, Math.floor(this.length / 2 ** 29));
    end.setUint32(4, (this.length * 8) >>> 0);
    this.compress(block, 0);
    return new Uint32Array(this.state.buffer);
  }

  /** The hash in lower-case hexadecimal digits; nothing can be added after it. */
  hex(): string {
    return Array.from(this.words(), (word) => word.toString(16).padStart(8, '0')).join('');
  }

  private compress(bytes: Uint8Array, start: number): void {
    const { state } = this;
    for (let t = 0, i = start; t < 16; t++, i += 4) {
      w[t] = (bytes[i]! << 24) | (bytes[i + 1]! << 16) | (bytes[i + 2]! << 8) | bytes[i + 3]!;
    }
    for (let t = 16; t < BLOCK; t++) {
      const x = w[t - 15]!;
      const y = w[t - 2]!;
      const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
      const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
      w[t] = (s1 + w[t - 7]! + s0 + w[t - 16]!) | 0;
    }
    let [a, b, c, d] = [state[0]!, state[1]!, state[2]!, state[3]!];
    let [e, f, g, h] = [state[4]!, state[5]!, state[6]!, state[7]!];
    for (let t = 0; t < BLOCK; t++) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const choice = (e & f) ^ (~e & g);
      const first = (h + s1 + choice + ROUND_CONSTANTS[t]! + w[t]!) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + s0 + majority) | 0;
    }
    state[0]! += a;
    state[1]! += b;
    state[2]! += c;
    state[3]! += d;
    state[4]! += e;
    state[5]! += f;
    state[6]! += g;
    state[7]! += h;
  }
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function fraction(root: number): number {
  return (root - Math.floor(root)) * 2 ** 32;
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) {
    if (found.every((prime) => n % prime !== 0)) found.push(n);
  }
  return found;
}

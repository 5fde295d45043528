/** Conversion of 16-bit float bit patterns to and from float32.
 *  float16   1 sign, 5 exponent (bias 15), 10 fraction bits
 *  bfloat16  1 sign, 8 exponent (bias 127), 7 fraction bits: the upper half of a float32
 *
 *  Decoding is exact and keeps the payload of NaN. Encoding rounds to nearest, ties to even, so
 *  decoding and encoding again returns the same bit pattern.
 *
 *  When decoding, `source` may be the last half of `target`'s memory: element i is read before bytes
 *  4i … 4i+3 are written, and these never overlap an element that is still to be read. */

/** x = bits · 2¹⁶, read as float32
 *  @example 3f80  →  1;  c049  →  −3.140625 */
export function decodeBfloat16(source: Uint16Array, target: Float32Array): void {
  expectSameLength(source, target);
  const bits = new Uint32Array(target.buffer, target.byteOffset, target.length);
  for (let i = 0; i < source.length; i++) bits[i] = source[i]! << 16;
}

/** bits = ⌊(u + 7fff + (bit 16 of u)) / 2¹⁶⌋ for the float32 pattern u
 *  @example 1 + 2⁻⁸ (a tie)  →  3f80;  1 + 3·2⁻⁸ (a tie)  →  3f82 */
export function encodeBfloat16(source: Float32Array, target: Uint16Array): void {
  expectSameLength(source, target);
  const bits = new Int32Array(source.buffer, source.byteOffset, source.length);
  for (let i = 0; i < bits.length; i++) {
    const u = bits[i]!;
    // A NaN keeps its upper payload; the quiet bit keeps one with only a low payload from becoming infinity.
    target[i] =
      (u & 0x7fffffff) > 0x7f800000
        ? (u >>> 16) | ((u & 0x7f0000) === 0 ? 0x40 : 0)
        : (u + 0x7fff + ((u >>> 16) & 1)) >>> 16;
  }
}

/** x = (−1)^s · 2^(e−15) · (1 + f/1024), or (−1)^s · 2⁻¹⁴ · f/1024 if e = 0
 *  @example 3c00  →  1;  0001  →  2⁻²⁴;  7bff  →  65504 */
export function decodeFloat16(source: Uint16Array, target: Float32Array): void {
  expectSameLength(source, target);
  const bits = new Uint32Array(target.buffer, target.byteOffset, target.length);
  float16Table ??= makeFloat16Table();
  const table = float16Table;
  for (let i = 0; i < source.length; i++) bits[i] = table[source[i]!]!;
}

/** The inverse of {@link decodeFloat16}; 65520 and above become infinity.
 *  @example 1 + 2⁻¹¹ (a tie)  →  3c00;  65519  →  7bff;  2⁻²⁵ (a tie)  →  0000 */
export function encodeFloat16(source: Float32Array, target: Uint16Array): void {
  expectSameLength(source, target);
  const bits = new Int32Array(source.buffer, source.byteOffset, source.length);
  for (let i = 0; i < bits.length; i++) {
    const u = bits[i]!;
    const magnitude = u & 0x7fffffff;
    const sign = (u >>> 16) & 0x8000;
    // From 2⁻¹⁴, the smallest normal float16, to below the rounding bound of infinity.
    target[i] =
      magnitude >= 0x38800000 && magnitude < 0x477ff000
        ? sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13)
        : sign | encodeFloat16Edge(magnitude);
  }
}

/** A float32 magnitude outside the normal range of float16: subnormal, zero, infinity or NaN. */
function encodeFloat16Edge(magnitude: number): number {
  if (magnitude > 0x7f800000) {
    const payload = (magnitude >>> 13) & 0x3ff;
    return 0x7c00 | (payload === 0 ? 0x200 : payload);
  }
  if (magnitude >= 0x477ff000) return 0x7c00;
  if (magnitude <= 0x33000000) return 0;
  // The fraction with its leading 1, in units of 2⁻²⁴: shifted by 14 (2⁻¹⁵) to 24 (2⁻²⁵).
  const fraction = (magnitude & 0x7fffff) | 0x800000;
  const shift = 126 - (magnitude >>> 23);
  const half = (1 << (shift - 1)) - 1;
  return (fraction + half + ((fraction >>> shift) & 1)) >>> shift;
}

let float16Table: Uint32Array | undefined;

/** The float32 pattern of each of the 65,536 float16 patterns. */
function makeFloat16Table(): Uint32Array {
  const table = new Uint32Array(0x10000);
  const scratch = new Float32Array(1);
  const scratchBits = new Uint32Array(scratch.buffer);
  for (let h = 0; h < 0x8000; h++) {
    const [exponent, fraction] = [h >>> 10, h & 0x3ff];
    scratch[0] = fraction * 2 ** -24;
    if (exponent === 0) table[h] = scratchBits[0]!;
    else if (exponent === 31) table[h] = 0x7f800000 | (fraction << 13);
    else table[h] = ((exponent + 112) << 23) | (fraction << 13);
    table[h | 0x8000] = table[h]! | 0x80000000;
  }
  return table;
}

function expectSameLength(source: Uint16Array | Float32Array, target: typeof source): void {
  if (source.length !== target.length) {
    throw new RangeError(
      `Cannot convert floats: source and target must have the same length, got ${source.length} and ${target.length}`,
    );
  }
}

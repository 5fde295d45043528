/** Arrays end to end.
 *  @example [1, 2], [], [3]  →  [1, 2, 3] */
export function joinFloats(parts: readonly Float32Array[]): Float32Array {
  return fill(new Float32Array(totalLength(parts)), parts);
}

/** The same of whole numbers. */
export function joinInts(parts: readonly Int32Array[]): Int32Array {
  return fill(new Int32Array(totalLength(parts)), parts);
}

/** Where parts of these lengths start when they stand end to end, and where the last one ends.
 *  @example 2, 0, 1  →  0, 2, 2, 3 */
export function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, i) => {
    offsets[i + 1] = offsets[i]! + length;
  });
  return offsets;
}

function totalLength(parts: readonly ArrayLike<number>[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

function fill<T extends Float32Array | Int32Array>(joined: T, parts: readonly T[]): T {
  let start = 0;
  for (const part of parts) {
    joined.set(part, start);
    start += part.length;
  }
  return joined;
}

/**
 * Ragged columns: the numbers of several sequences end to end in one array, without padding.
 * Sequence i has the elements from offsets[i] up to, but not including, offsets[i + 1].
 */
export type Column = Float32Array | Int32Array;

/** Offsets of sequences with these lengths: where each starts, then where the last one ends.
 *  @example [2, 0, 1]  →  [0, 2, 2, 3] */
export function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, i) => {
    offsets[i + 1] = offsets[i]! + length;
  });
  return offsets;
}

/** Lengths of the sequences with these offsets: the inverse of `offsetsOf`.
 *  @example [0, 2, 2, 3]  →  [2, 0, 1] */
export function lengthsOf(offsets: Int32Array): number[] {
  return Array.from(offsets.subarray(1), (end, i) => end - offsets[i]!);
}

/** Copies arrays end to end into one.
 *  @example [1, 2], [], [3]  →  [1, 2, 3] */
export function concatFloats(parts: readonly Float32Array[]): Float32Array {
  return fill(new Float32Array(totalLength(parts)), parts);
}

/** The same for integers. */
export function concatInts(parts: readonly Int32Array[]): Int32Array {
  return fill(new Int32Array(totalLength(parts)), parts);
}

/** Views of a column's sequences; nothing is copied.
 *  @example [1, 2, 3], offsets [0, 2, 2, 3]  →  [1, 2], [], [3] */
export function splitByOffsets<C extends Column>(column: C, offsets: Int32Array): C[] {
  return Array.from(offsets.subarray(1), (end, i) => column.subarray(offsets[i]!, end) as C);
}

/** Views of consecutive parts with these lengths; nothing is copied.
 *  @example [1, 2, 3], lengths [2, 0, 1]  →  [1, 2], [], [3] */
export function splitByLengths<C extends Column>(column: C, lengths: readonly number[]): C[] {
  return splitByOffsets(column, offsetsOf(lengths));
}

/** Throws unless every column has `length` elements; `action` completes "Cannot …". */
export function expectLengths(
  columns: Readonly<Record<string, { readonly length: number }>>,
  { action, length }: { readonly action: string; readonly length: number },
): void {
  for (const [name, column] of Object.entries(columns)) {
    if (column.length === length) continue;
    throw new RangeError(
      `Cannot ${action}: ${name} must have ${length} elements, got ${column.length}; pass columns of equal length`,
    );
  }
}

function totalLength(parts: readonly ArrayLike<number>[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

function fill<C extends Column>(joined: C, parts: readonly C[]): C {
  let start = 0;
  for (const part of parts) {
    joined.set(part, start);
    start += part.length;
  }
  return joined;
}

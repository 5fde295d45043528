/** Where the tokens of sequences stand in a packed batch. */
export interface RowLayout {
  /** The row of each place of each sequence. */
  readonly rows: readonly Int32Array[];
  /** M, the rows in all. */
  readonly count: number;
}

/** M of a layout's rows. */
export function countRows(rows: RowLayout['rows']): number {
  let count = 0;
  for (const places of rows) for (const row of places) count = Math.max(count, row + 1);
  return count;
}

/** Fewer tokens in common are not worth it. */
const LEAST = 8;

/**
 * The row of each token where sequences that begin alike have their beginning in common. A token's
 * hidden state depends on nothing after it, so equal beginnings have equal states. What a sequence
 * has in common must be at least half of it: each row that stands in more places costs a little.
 * @example [1…8, 9, 10] and [1…8, 9, 11]  →  rows 0…9, and 0…8, 10
 */
export function shareRows(sequences: readonly ArrayLike<number>[]): RowLayout {
  const byBeginning = new Map<string, number[]>();
  const rows: Int32Array[] = [];
  let count = 0;
  for (const [b, sequence] of sequences.entries()) {
    const key = Array.from({ length: LEAST }, (_, t) => sequence[t]).join();
    const alike = byBeginning.get(key) ?? [];
    byBeginning.set(key, [...alike, b]);
    const { other, shared } = findLongest(sequence, { sequences, alike });
    const own = count - shared;
    rows.push(
      Int32Array.from({ length: sequence.length }, (_, t) =>
        t < shared ? rows[other]![t]! : own + t,
      ),
    );
    count += sequence.length - shared;
  }
  return { rows, count };
}

/** The earlier sequence that has most in common with this one; nothing is shared if that is little. */
function findLongest(
  sequence: ArrayLike<number>,
  { sequences, alike }: { sequences: readonly ArrayLike<number>[]; alike: readonly number[] },
): { readonly other: number; readonly shared: number } {
  let [other, shared] = [-1, 0];
  for (const b of alike) {
    const common = commonLength(sequence, sequences[b]!);
    if (common > shared) [other, shared] = [b, common];
  }
  return shared >= LEAST && 2 * shared >= sequence.length
    ? { other, shared }
    : { other, shared: 0 };
}

/** Tokens until two sequences differ. */
export function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const end = Math.min(a.length, b.length);
  let t = 0;
  while (t < end && a[t] === b[t]) t++;
  return t;
}

/** Rows of sequences that lie end to end. */
export function consecutiveRows(lengths: readonly number[]): Int32Array[] {
  let first = 0;
  return lengths.map((length) => {
    first += length;
    return Int32Array.from({ length }, (_, t) => first - length + t);
  });
}

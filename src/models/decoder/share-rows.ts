/** Fewer tokens in common are not worth the look-up. */
const LEAST = 8;

/**
 * The row of each token where sequences that begin alike have their beginning in common. A token's
 * hidden state depends on nothing after it, so equal beginnings have equal states. A sequence looks
 * for its beginning in the first one that has its first 8 tokens.
 * @example [1…8, 9, 10] and [1…8, 9, 11]  →  rows 0…9, and 0…8, 10
 */
export function shareRows(sequences: readonly ArrayLike<number>[]): {
  readonly rows: Int32Array[];
  readonly count: number;
} {
  const first = new Map<string, number>();
  const rows: Int32Array[] = [];
  let count = 0;
  for (const [b, sequence] of sequences.entries()) {
    const key = Array.from({ length: LEAST }, (_, t) => sequence[t]).join();
    const other = sequence.length < LEAST ? undefined : first.get(key);
    if (other === undefined) first.set(key, b);
    const shared = other === undefined ? 0 : commonLength(sequence, sequences[other]!);
    const own = count - shared;
    rows.push(
      Int32Array.from({ length: sequence.length }, (_, t) =>
        t < shared ? rows[other!]![t]! : own + t,
      ),
    );
    count += sequence.length - shared;
  }
  return { rows, count };
}

/** Tokens until two sequences differ. */
function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const end = Math.min(a.length, b.length);
  let t = 0;
  while (t < end && a[t] === b[t]) t++;
  return t;
}

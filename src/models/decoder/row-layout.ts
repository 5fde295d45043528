/** Rows of the tokens of sequences in a packed batch. */
export interface RowLayout {
  /** The row of each position of each sequence. */
  readonly rows: readonly Int32Array[];
  /** M, the total number of rows. */
  readonly count: number;
}

/** M, the total number of rows of a layout. */
export function countRows(rows: RowLayout['rows']): number {
  let count = 0;
  for (const places of rows) for (const row of places) count = Math.max(count, row + 1);
  return count;
}

/** Sharing fewer tokens is not worth it. */
const MIN_SHARED = 8;

/**
 * The row of each token if sequences with a shared prefix store it once. A token's hidden state does
 * not depend on later tokens, so equal prefixes have equal states. A sequence shares a prefix only if
 * it is at least half of the sequence: each further use of a row costs a little.
 * @example [1…8, 9, 10] and [1…8, 9, 11]  →  rows 0…9, and 0…8, 10
 */
export function shareRows(sequences: readonly ArrayLike<number>[]): RowLayout {
  const byPrefix = new Map<string, number[]>();
  const rows: Int32Array[] = [];
  let count = 0;
  for (const [b, sequence] of sequences.entries()) {
    const key = Array.from({ length: MIN_SHARED }, (_, t) => sequence[t]).join();
    const candidates = byPrefix.get(key) ?? [];
    byPrefix.set(key, [...candidates, b]);
    const { other, shared } = findLongest(sequence, { sequences, candidates });
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

/** The earlier sequence with the longest shared prefix; nothing is shared if that is short. */
function findLongest(
  sequence: ArrayLike<number>,
  {
    sequences,
    candidates,
  }: { sequences: readonly ArrayLike<number>[]; candidates: readonly number[] },
): { readonly other: number; readonly shared: number } {
  let [other, shared] = [-1, 0];
  for (const b of candidates) {
    const common = commonLength(sequence, sequences[b]!);
    if (common > shared) [other, shared] = [b, common];
  }
  return shared >= MIN_SHARED && 2 * shared >= sequence.length
    ? { other, shared }
    : { other, shared: 0 };
}

/** Length of the shared prefix of two sequences. */
export function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const end = Math.min(a.length, b.length);
  let t = 0;
  while (t < end && a[t] === b[t]) t++;
  return t;
}

/** Rows of sequences that are stored end to end. */
export function consecutiveRows(lengths: readonly number[]): Int32Array[] {
  let first = 0;
  return lengths.map((length) => {
    first += length;
    return Int32Array.from({ length }, (_, t) => first - length + t);
  });
}

/** Rows of prompts, each once for the sequences that share its array, then the other rows of all sequences.
 *  @param sequences each with its prompt and the number of its own tokens after it
 *  @example prompts of 2 and 1 tokens, two sequences of 1 after the first, one of 2 after the second  →
 *  [0, 1, 3], [0, 1, 4], [2, 5, 6] */
export function promptsFirst(
  sequences: readonly { readonly prompt: Int32Array; readonly own: number }[],
): RowLayout {
  const firstRows = new Map<Int32Array, number>();
  let count = 0;
  for (const { prompt } of sequences) {
    if (firstRows.has(prompt)) continue;
    firstRows.set(prompt, count);
    count += prompt.length;
  }
  const rows = sequences.map(({ prompt: { length }, prompt, own }) => {
    const first = firstRows.get(prompt)!;
    const next = count - length;
    count += own;
    return Int32Array.from({ length: length + own }, (_, t) => (t < length ? first + t : next + t));
  });
  return { rows, count };
}

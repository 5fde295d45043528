/** Sequences padded on the right to T places, over packed rows. */
export interface PaddedForm {
  /** The row of each place of each sequence; sequences with a common beginning may share rows. */
  readonly rows: readonly ArrayLike<number>[];
  /** T, at least that of the longest sequence. */
  readonly length: number;
}

/** Where each head's row of the packed form [M, heads] stands in the padded form [B, heads, T], and back. */
export interface PackingTables {
  /** [B, heads, T] → row m·heads + h; padding points at row h of the first token. */
  readonly unpack: Int32Array;
  /** [M, heads] → the first of its places (b·heads + h)·T + t. */
  readonly pack: Int32Array;
}

/** Index tables between packed tokens and their padded form. */
export function packingTables({ rows, length }: PaddedForm, heads: number): PackingTables {
  const unpack = new Int32Array(rows.length * heads * length);
  const pack = new Int32Array(countRows(rows) * heads).fill(-1);
  for (const [b, places] of rows.entries()) {
    for (let h = 0; h < heads; h++) {
      for (let t = 0; t < length; t++) {
        const place = (b * heads + h) * length + t;
        const row = (t < places.length ? places[t]! : 0) * heads + h;
        unpack[place] = row;
        if (t < places.length && pack[row] === -1) pack[row] = place;
      }
    }
  }
  return { unpack, pack };
}

/** All places of each row, [K, M, heads] with K the most that a row has; where a row has fewer, the
 *  last place of the first sequence stands, which must be padding. */
export function placesOfRows(
  { rows, length }: PaddedForm,
  heads: number,
): { readonly table: Int32Array; readonly copies: number } {
  const count = countRows(rows);
  const found = new Int32Array(count);
  for (const places of rows) for (let t = 0; t < places.length; t++) found[places[t]!]!++;
  const copies = found.reduce((most, n) => Math.max(most, n), 1);
  const table = new Int32Array(copies * count * heads);
  for (let i = 0; i < table.length; i++) table[i] = ((i % heads) + 1) * length - 1;
  found.fill(0);
  for (const [b, places] of rows.entries()) {
    for (let t = 0; t < places.length; t++) {
      const row = places[t]!;
      const copy = found[row]!++;
      for (let h = 0; h < heads; h++) {
        table[(copy * count + row) * heads + h] = (b * heads + h) * length + t;
      }
    }
  }
  return { table, copies };
}

/** Rows of sequences that lie end to end. */
export function consecutiveRows(lengths: readonly number[]): Int32Array[] {
  let first = 0;
  return lengths.map((length) => {
    first += length;
    return Int32Array.from({ length }, (_, t) => first - length + t);
  });
}

/** Queries from `start` to `end`, which look at keys 0 to `end`. */
export interface Stripe {
  readonly start: number;
  readonly end: number;
}

/** Cuts queries into stripes of nearly equal length. */
export function cutStripes(length: number, count: number): Stripe[] {
  const edge = (i: number) => Math.round((i * length) / count);
  return Array.from({ length: count }, (_, i) => ({ start: edge(i), end: edge(i + 1) }));
}

/** Attention bias of a stripe, [queries, keys]: a token sees itself and earlier ones; −1e9 elsewhere. */
export function causalBias({ start, end }: Stripe): Float32Array {
  const bias = new Float32Array((end - start) * end);
  for (let t = start; t < end; t++)
    bias.fill(-1e9, (t - start) * end + t + 1, (t - start + 1) * end);
  return bias;
}

/** [B, 1, T, 1]: 1 at the first place of each row, 0 at others and where padding stands. */
export function realPlaces({ rows, length }: PaddedForm): Float32Array {
  const real = new Float32Array(rows.length * length);
  const isKnown = new Uint8Array(countRows(rows));
  for (const [b, places] of rows.entries()) {
    for (let t = 0; t < places.length; t++) {
      if (isKnown[places[t]!]) continue;
      isKnown[places[t]!] = 1;
      real[b * length + t] = 1;
    }
  }
  return real;
}

function countRows(rows: readonly ArrayLike<number>[]): number {
  let count = 0;
  for (const places of rows)
    for (let t = 0; t < places.length; t++) count = Math.max(count, places[t]! + 1);
  return count;
}

/** Where each head's row of the packed form [M, heads] stands in the padded form [B, heads, T], and back. */
export interface PackingTables {
  /** [B, heads, T] → row m·heads + h; padding points at row h of the first token. */
  readonly unpack: Int32Array;
  /** [M, heads] → place (b·heads + h)·T + t. */
  readonly pack: Int32Array;
}

/** Index tables between packed tokens and sequences padded on the right to the longest. */
export function packingTables(lengths: readonly number[], heads: number): PackingTables {
  const longest = Math.max(...lengths);
  const total = lengths.reduce((a, b) => a + b, 0);
  const unpack = new Int32Array(lengths.length * heads * longest);
  const pack = new Int32Array(total * heads);
  let first = 0;
  lengths.forEach((length, b) => {
    for (let h = 0; h < heads; h++) {
      for (let t = 0; t < longest; t++) {
        const place = (b * heads + h) * longest + t;
        unpack[place] = t < length ? (first + t) * heads + h : h;
        if (t < length) pack[(first + t) * heads + h] = place;
      }
    }
    first += length;
  });
  return { unpack, pack };
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

/** [B, 1, T, 1]: 1 where a token stands, 0 where padding does. */
export function realPlaces(lengths: readonly number[]): Float32Array {
  const longest = Math.max(...lengths);
  const real = new Float32Array(lengths.length * longest);
  for (const [b, length] of lengths.entries()) real.fill(1, b * longest, b * longest + length);
  return real;
}

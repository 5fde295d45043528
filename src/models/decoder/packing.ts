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

/** Attention bias [B, 1, T, T]: a token sees itself and earlier ones; −1e9 elsewhere. */
export function causalBias(batch: number, length: number): Float32Array {
  const bias = new Float32Array(batch * length * length);
  for (let b = 0; b < batch; b++) {
    for (let t = 0; t < length; t++)
      bias.fill(-1e9, (b * length + t) * length + t + 1, (b * length + t + 1) * length);
  }
  return bias;
}

/** [B, 1, T, 1]: 1 where a token stands, 0 where padding does. */
export function realPlaces(lengths: readonly number[]): Float32Array {
  const longest = Math.max(...lengths);
  const real = new Float32Array(lengths.length * longest);
  for (const [b, length] of lengths.entries()) real.fill(1, b * longest, b * longest + length);
  return real;
}

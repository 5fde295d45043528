/** Token ids of several sequences; they may differ in length. */
export type TokenBatch = readonly ArrayLike<number>[];

/** Sequences that run together hold at most this many tokens, so that memory stays bounded. */
const TOKENS_AT_ONCE = 1024;

/** The tokens whose mask is not 0: padding may stand on either side. */
export function realTokens(inputIds: TokenBatch, attentionMask?: TokenBatch): Int32Array[] {
  return inputIds.map((ids, row) => {
    const mask = attentionMask?.[row];
    if (mask !== undefined && mask.length !== ids.length) {
      throw new RangeError(
        `Cannot run the model: attention mask ${row} must have ${ids.length} entries, got ${mask.length}`,
      );
    }
    const tokens = Int32Array.from(
      Array.from(ids).filter((_, i) => mask === undefined || mask[i] !== 0),
    );
    if (tokens.length === 0) {
      throw new RangeError(
        `Cannot run the model: sequence ${row} must hold at least one token, got none`,
      );
    }
    return tokens;
  });
}

/** Cuts a batch into groups that run together; keeps the order. */
export function groupByTokens(
  sequences: readonly { readonly length: number }[],
  tokensAtOnce = TOKENS_AT_ONCE,
): { start: number; end: number }[] {
  const groups: { start: number; end: number }[] = [];
  let tokens = 0;
  sequences.forEach(({ length }, i) => {
    const group = groups.at(-1);
    if (group === undefined || tokens + length > tokensAtOnce) {
      groups.push({ start: i, end: i + 1 });
      tokens = length;
    } else {
      group.end = i + 1;
      tokens += length;
    }
  });
  return groups;
}

/** Cuts one array into pieces of the given lengths; nothing is copied. */
export function cutInto(values: Float32Array, lengths: readonly number[]): Float32Array[] {
  let start = 0;
  return lengths.map((length) => {
    start += length;
    return values.subarray(start - length, start);
  });
}

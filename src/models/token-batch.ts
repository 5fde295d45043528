import { commonLength } from './decoder/row-layout.ts';

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

/** A sequence's tokens, and how many of them at its beginning the one before it has too. */
interface SequenceSize {
  readonly length: number;
  readonly shared?: number;
}

/** Cuts a batch into groups that run together; keeps the order.
 *  @example 600, 600 of which 500 shared, 600 at most 1024 at once  →  0 to 2, 2 to 3 */
export function groupByTokens(
  sequences: readonly SequenceSize[],
  tokensAtOnce = TOKENS_AT_ONCE,
): { start: number; end: number }[] {
  const groups: { start: number; end: number }[] = [];
  let tokens = 0;
  sequences.forEach(({ length, shared = 0 }, i) => {
    const group = groups.at(-1);
    const own = length - shared;
    if (group === undefined || tokens + own > tokensAtOnce) {
      groups.push({ start: i, end: i + 1 });
      tokens = length;
    } else {
      group.end = i + 1;
      tokens += own;
    }
  });
  return groups;
}

/** Sizes of sequences of which neighbours may begin alike. */
export function sizesOf(sequences: TokenBatch): SequenceSize[] {
  return sequences.map((sequence, i) => ({
    length: sequence.length,
    shared: i === 0 ? 0 : commonLength(sequence, sequences[i - 1]!),
  }));
}

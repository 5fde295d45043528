import { commonLength } from './decoder/row-layout.ts';

/** Token ids of several sequences; they may differ in length. */
export type TokenBatch = readonly ArrayLike<number>[];

/** Maximum number of tokens that run together, which bounds memory. */
const TOKENS_AT_ONCE = 1024;

/** The tokens whose mask is not 0: padding may be on either side. */
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
        `Cannot run the model: sequence ${row} must have at least one token, got none`,
      );
    }
    return tokens;
  });
}

/** Length of a sequence, and of the prefix that it shares with the sequence before it. */
interface SequenceSize {
  readonly length: number;
  readonly shared?: number;
}

/** Splits a batch into groups that run together, in order.
 *  @example 600, 600 of which 500 shared, 600, at most 1024 together  →  0 to 2, 2 to 3 */
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

/** Lengths of sequences and of the prefixes that neighbours share. */
export function sizesOf(sequences: TokenBatch): SequenceSize[] {
  return sequences.map((sequence, i) => ({
    length: sequence.length,
    shared: i === 0 ? 0 : commonLength(sequence, sequences[i - 1]!),
  }));
}

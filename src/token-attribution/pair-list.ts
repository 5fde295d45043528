import type { Rollout, SAPair } from './rollout.ts';

/** The source of pairs: a rollout, or an experience, which also has the last four columns. */
export interface PairColumns extends Rollout {
  readonly stepOffsets?: Int32Array;
  readonly values?: Float32Array;
  readonly advantages?: Float32Array;
  readonly returns?: Float32Array;
}

interface TokenRange {
  readonly start: number;
  readonly end: number;
}

/** The (state, action) pairs of a rollout or an experience, in order, as views: a pair is created on
 *  access and reads the columns. An experience's step after the last token has no action and no pair. */
export class PairList implements Iterable<SAPair> {
  private readonly columns: PairColumns;
  private readonly range: TokenRange;

  constructor(columns: PairColumns, range: TokenRange = { start: 0, end: columns.tokens.length }) {
    this.columns = columns;
    this.range = range;
  }

  get length(): number {
    return this.range.end - this.range.start;
  }

  /** The pair at an index; a negative index counts from the end, as in an array. */
  at(index: number): SAPair | undefined {
    const i = index < 0 ? index + this.length : index;
    if (!Number.isInteger(i) || i < 0 || i >= this.length) return undefined;
    const n = this.range.start + i;
    return new PairView(this.columns, { sequence: sequenceOf(n, this.columns.offsets), n });
  }

  /** The pairs of one sequence of the columns. */
  ofSequence(index: number): PairList {
    const { offsets, sequences } = this.columns;
    if (sequences[index] === undefined) {
      throw new RangeError(
        `Cannot read pairs: the sequence must be a whole number below ${sequences.length}, got ${index}`,
      );
    }
    return new PairList(this.columns, { start: offsets[index]!, end: offsets[index + 1]! });
  }

  /** Yields the pairs in order. */
  *[Symbol.iterator](): Generator<SAPair> {
    const { start, end } = this.range;
    let sequence = sequenceOf(start, this.columns.offsets);
    for (let n = start; n < end; n++) {
      while (n >= this.columns.offsets[sequence + 1]!) sequence++;
      yield new PairView(this.columns, { sequence, n });
    }
  }

  /** All pairs as plain data. */
  toJSON(): SAPair[] {
    return [...this];
  }
}

/** The sequence of token n: the last one that starts at or before it, since earlier ones that start at
 *  the same token are empty. */
function sequenceOf(n: number, offsets: Int32Array): number {
  let low = 0;
  let high = offsets.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (offsets[middle]! <= n) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface PairPosition {
  readonly sequence: number;
  /** Index in the token columns. */
  readonly n: number;
}

/** util.inspect.custom, without an import that browsers lack. */
const inspectSymbol = Symbol.for('nodejs.util.inspect.custom');

class PairView implements SAPair {
  readonly #columns: PairColumns;
  readonly #position: PairPosition;

  constructor(columns: PairColumns, position: PairPosition) {
    this.#columns = columns;
    this.#position = position;
  }

  get #sequence() {
    return this.#columns.sequences[this.#position.sequence]!;
  }

  get stateText(): string {
    const { promptText, pieces, observations = [] } = this.#sequence;
    const known = observations.filter(({ at }) => at <= this.step);
    const parts = known.map(({ at, text }, i) => {
      return pieces.slice(known[i - 1]?.at ?? 0, at).join('') + text;
    });
    const last = pieces.slice(known.at(-1)?.at ?? 0, this.step);
    return [promptText, ...parts, ...last].join('');
  }

  get actionToken(): string {
    return this.#sequence.pieces[this.step]!;
  }

  get actionTokenId(): number {
    return this.#columns.tokens[this.#position.n]!;
  }

  get logprob(): number {
    return this.#columns.logprobs[this.#position.n]!;
  }

  get refLogprob(): number {
    return this.#columns.refLogprobs[this.#position.n]!;
  }

  get klDiv(): number {
    return this.#columns.kl[this.#position.n]!;
  }

  get value(): number {
    return this.#atStep(this.#columns.values);
  }

  get advantage(): number {
    return this.#columns.advantages?.[this.#position.n] ?? Number.NaN;
  }

  get rewardToGo(): number {
    return this.#atStep(this.#columns.returns);
  }

  get promptIdx(): number {
    return this.#sequence.promptIdx;
  }

  get step(): number {
    return this.#position.n - this.#columns.offsets[this.#position.sequence]!;
  }

  toJSON(): SAPair {
    const { stateText, actionToken, actionTokenId, logprob, refLogprob, klDiv } = this;
    const { value, advantage, rewardToGo, promptIdx, step } = this;
    return {
      stateText,
      actionToken,
      actionTokenId,
      logprob,
      refLogprob,
      klDiv,
      value,
      advantage,
      rewardToGo,
      promptIdx,
      step,
    };
  }

  /** What console.log prints. */
  [inspectSymbol](): SAPair {
    return this.toJSON();
  }

  #atStep(column: Float32Array | undefined): number {
    const first = this.#columns.stepOffsets?.[this.#position.sequence];
    return first === undefined ? Number.NaN : (column?.[first + this.step] ?? Number.NaN);
  }
}

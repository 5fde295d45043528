import { planBlocks } from './attention-blocks.ts';
import { type BatchPlan, planBatch } from './batch-plan.ts';
import type { DecoderConfig } from './decoder-config.ts';
import { consecutiveRows, type RowLayout, shareRows } from './row-layout.ts';

export interface PackedBatchOptions {
  /** Stores a prefix that several sequences share only once; false by default. */
  readonly share?: boolean;
  /** The row of each token, for a custom order. */
  readonly layout?: RowLayout;
}

/** Sequences without padding: M tokens, end to end by default. */
export class PackedBatch {
  /** [M] */
  readonly tokens: Int32Array;
  /** [M], each token's position in its own sequence. */
  readonly positions: Int32Array;
  /** The row of each position of each sequence. */
  readonly rows: readonly Int32Array[];

  constructor(
    sequences: readonly ArrayLike<number>[],
    { share = false, layout }: PackedBatchOptions = {},
  ) {
    const { rows, count } = layout ?? (share ? shareRows(sequences) : consecutiveLayout(sequences));
    this.rows = rows;
    this.tokens = new Int32Array(count);
    this.positions = new Int32Array(count);
    for (const [b, places] of rows.entries()) {
      for (let t = 0; t < places.length; t++) {
        this.tokens[places[t]!] = sequences[b]![t]!;
        this.positions[places[t]!] = t;
      }
    }
  }

  get lengths(): readonly number[] {
    return this.rows.map(({ length }) => length);
  }

  /** Row of the last token of each sequence. */
  lastRows(): Int32Array {
    return Int32Array.from(this.rows, (places) => places.at(-1)!);
  }

  /** Plans attention over the batch: the form of its graph and the tables to feed.
   *  @param known number of leading rows that have already run: their keys and values are fed as
   *  `past.k` and `past.v`, and x contains the other rows */
  plan(config: DecoderConfig, known = 0): BatchPlan {
    const { rows, positions } = this;
    const width = config.num_attention_heads * config.head_dim;
    const blocks = planBlocks(rows, { known, width });
    return planBatch({ rows, positions, blocks, known }, config);
  }
}

function consecutiveLayout(sequences: readonly ArrayLike<number>[]): RowLayout {
  const lengths = sequences.map(({ length }) => length);
  return { rows: consecutiveRows(lengths), count: lengths.reduce((a, b) => a + b, 0) };
}

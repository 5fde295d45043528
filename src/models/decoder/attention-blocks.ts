import { countRows } from './row-layout.ts';

/** Queries of a sequence at positions `start` to `end`, which attend to keys 0 to `end`. */
interface Span {
  readonly sequence: number;
  readonly start: number;
  readonly end: number;
}

/** Spans whose attention is computed together, padded to the longest. */
export interface AttentionBlock {
  readonly spans: readonly Span[];
  /** Maximum number of queries of a span. */
  readonly queries: number;
  /** Maximum number of keys of a span. */
  readonly keys: number;
}

export interface BlockOptions {
  /** Number of leading rows that are only keys, because they have already run; 0 by default. */
  readonly known?: number;
  /** Heads · head size: the wider the heads, the smaller the relative cost of another block. */
  readonly width: number;
}

/** A long span is split into pieces of at least this many queries, so that few scores are masked. */
const MIN_QUERIES = 64;
const MAX_PIECES = 8;
/** Fixed cost of a block, as a number of scores of width 1. */
const BLOCK_COST = 3e6;
/** Each number of blocks needs its own graph, so few numbers are allowed. */
const COUNTS = [1, 2, 4, 8];

/**
 * Splits causal attention into rectangles of queries and keys: each row is a query once and attends to
 * the prefix of its own sequence, and sequences of different lengths need little padding.
 * @example one sequence of 256 with narrow heads  →  one block of 256 queries and 256 keys; with wide
 * ones  →  four of 64 queries, which attend to 64, 128, 192 and 256 keys
 */
export function planBlocks(
  rows: readonly Int32Array[],
  { known = 0, width }: BlockOptions,
): AttentionBlock[] {
  const extra = BLOCK_COST / width;
  const blocks: AttentionBlock[] = [];
  const whole = querySpans(rows, known);
  const spans = whole.flatMap((span) => splitSpan(span, extra / whole.length));
  for (const span of spans.sort((a, b) => areaOf(blockOf([b])) - areaOf(blockOf([a])))) {
    const single = blockOf([span]);
    const fits = blocks.map((block) => addedArea(block, single));
    const least = fits.indexOf(Math.min(...fits));
    if (least < 0 || fits[least]! > areaOf(single) + extra) blocks.push(single);
    else blocks[least] = join(blocks[least]!, single);
  }
  while (!COUNTS.includes(blocks.length)) joinClosest(blocks);
  return blocks;
}

/** Spans of rows at their first occurrence, split where the number of sequences that share them changes. */
function querySpans(rows: readonly Int32Array[], known: number): Span[] {
  const count = countRows(rows);
  const uses = new Int32Array(count);
  for (const places of rows) for (const row of places) uses[row]!++;
  const isQuery = new Uint8Array(count);
  const spans: Span[] = [];
  for (const [sequence, places] of rows.entries()) {
    let start = places.findIndex((row) => row >= known && !isQuery[row]);
    for (let t = start; start >= 0 && t < places.length; t++) {
      isQuery[places[t]!] = 1;
      const isLast = t + 1 === places.length;
      if (!isLast && uses[places[t]!] === uses[places[t + 1]!]) continue;
      spans.push({ sequence, start, end: t + 1 });
      start = t + 1;
    }
  }
  return spans;
}

/** Pieces of nearly equal length with the lowest total cost, where each costs `extra` besides its scores. */
function splitSpan(span: Span, extra: number): Span[] {
  const most = Math.min(MAX_PIECES, Math.floor((span.end - span.start) / MIN_QUERIES));
  let best = [span];
  let least = Infinity;
  for (let count = 1; count <= most; count++) {
    const pieces = piecesOf(span, count);
    const cost = pieces.reduce((sum, piece) => sum + areaOf(blockOf([piece])) + extra, 0);
    if (cost < least) [best, least] = [pieces, cost];
  }
  return best;
}

function piecesOf({ sequence, start, end }: Span, count: number): Span[] {
  const edge = (i: number) => start + Math.round((i * (end - start)) / count);
  return Array.from({ length: count }, (_, i) => ({ sequence, start: edge(i), end: edge(i + 1) }));
}

function blockOf(spans: readonly Span[]): AttentionBlock {
  return {
    spans,
    queries: Math.max(...spans.map(({ start, end }) => end - start)),
    keys: Math.max(...spans.map(({ end }) => end)),
  };
}

/** Number of scores that a block computes per head. */
function areaOf({ spans, queries, keys }: AttentionBlock): number {
  return spans.length * queries * keys;
}

function join(a: AttentionBlock, b: AttentionBlock): AttentionBlock {
  return {
    spans: [...a.spans, ...b.spans],
    queries: Math.max(a.queries, b.queries),
    keys: Math.max(a.keys, b.keys),
  };
}

function addedArea(block: AttentionBlock, other: AttentionBlock): number {
  return areaOf(join(block, other)) - areaOf(block);
}

/** Joins the two blocks whose union adds the least padding. */
function joinClosest(blocks: AttentionBlock[]): void {
  let [first, second, least] = [0, 1, Infinity];
  for (const [i, a] of blocks.entries()) {
    for (let j = i + 1; j < blocks.length; j++) {
      const loss = addedArea(a, blocks[j]!) - areaOf(blocks[j]!);
      if (loss < least) [first, second, least] = [i, j, loss];
    }
  }
  blocks[first] = join(blocks[first]!, blocks[second]!);
  blocks.splice(second, 1);
}

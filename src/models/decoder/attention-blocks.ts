import { countRows } from './row-layout.ts';

/** Queries of a sequence at its places `start` to `end`, which look at keys 0 to `end`. */
interface Span {
  readonly sequence: number;
  readonly start: number;
  readonly end: number;
}

/** Spans whose attention is computed together, padded to the longest. */
export interface AttentionBlock {
  readonly spans: readonly Span[];
  /** The most queries of a span. */
  readonly queries: number;
  /** The most keys of a span. */
  readonly keys: number;
}

export interface BlockOptions {
  /** Rows before this one are keys alone: what they ask is known; none by default. */
  readonly known?: number;
  /** Heads · head size: the wider the heads, the less a block more costs in comparison. */
  readonly width: number;
}

/** A long span is cut into pieces of at least so many queries, so that few look at keys after them. */
const LEAST_QUERIES = 64;
const MOST_PIECES = 8;
/** What a block costs besides its scores: as much as so many scores of width 1. */
const BLOCK_COST = 3e6;
/** Each number of blocks is a graph of its own, so there are few. */
const COUNTS = [1, 2, 4, 8];

/**
 * Cuts causal attention into rectangles of queries and keys: each row asks once, sees the beginning of
 * its own sequence, and sequences of unlike lengths need not be padded to one another.
 * @example one sequence of 256 with narrow heads  →  one block of 256 queries and 256 keys; with wide
 * ones  →  four of 64 queries, which look at 64, 128, 192 and 256 keys
 */
export function planBlocks(
  rows: readonly Int32Array[],
  { known = 0, width }: BlockOptions,
): AttentionBlock[] {
  const extra = BLOCK_COST / width;
  const blocks: AttentionBlock[] = [];
  const whole = askingSpans(rows, known);
  const spans = whole.flatMap((span) => cutSpan(span, extra / whole.length));
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

/** Where rows stand for the first time, cut where more or fewer sequences have them in common. */
function askingSpans(rows: readonly Int32Array[], known: number): Span[] {
  const count = countRows(rows);
  const uses = new Int32Array(count);
  for (const places of rows) for (const row of places) uses[row]!++;
  const isAsked = new Uint8Array(count);
  const spans: Span[] = [];
  for (const [sequence, places] of rows.entries()) {
    let start = places.findIndex((row) => row >= known && !isAsked[row]);
    for (let t = start; start >= 0 && t < places.length; t++) {
      isAsked[places[t]!] = 1;
      const isLast = t + 1 === places.length;
      if (!isLast && uses[places[t]!] === uses[places[t + 1]!]) continue;
      spans.push({ sequence, start, end: t + 1 });
      start = t + 1;
    }
  }
  return spans;
}

/** Pieces of nearly equal length, as many as cost least where each costs `extra` besides its scores. */
function cutSpan(span: Span, extra: number): Span[] {
  const most = Math.min(MOST_PIECES, Math.floor((span.end - span.start) / LEAST_QUERIES));
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

/** Scores that a block computes, for each head. */
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

/** Makes one block of the two that lose least by it. */
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

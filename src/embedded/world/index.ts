export type { Post } from './facts.ts';
export { goldScore } from './gold-score.ts';
export { makeSplitPost, type Split } from './make-post.ts';
export {
  makeDemonstration,
  makeSummary,
  type SummaryKind,
  type SummaryMix,
} from './make-summary.ts';
export { rankSummaries } from './rank-summaries.ts';

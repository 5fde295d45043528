export { type GoldScore, goldScore } from './gold-score.ts';
export { makePost } from './make-post.ts';
export {
  demonstrationMix,
  makeDemonstration,
  makeSummary,
  type SummaryKind,
  type SummaryOptions,
} from './make-summary.ts';
export type { Phrase, PhraseType } from './phrase.ts';
export { type Fact, type FactKind, factKinds, type Post } from './post.ts';
export {
  type Candidate,
  type RankedSummary,
  type RankOptions,
  rankSummaries,
} from './rank-summaries.ts';
export { makeSplitPost, type Split, splitSize, splits } from './splits.ts';

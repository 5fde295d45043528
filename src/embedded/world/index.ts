export { type Fact, type FactKind, factKinds, type Post } from './facts.ts';
export { type GoldScore, goldScore } from './gold-score.ts';
export { makePost, makeSplitPost, type Split, splitSize, splits } from './make-post.ts';
export {
  demonstrationMix,
  makeDemonstration,
  makeSummary,
  type SummaryKind,
  type SummaryOptions,
} from './make-summary.ts';
export type { Phrase, PhraseType } from './phrases.ts';
export {
  type Candidate,
  type RankedSummary,
  type RankOptions,
  rankSummaries,
} from './rank-summaries.ts';

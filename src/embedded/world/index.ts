export { type GoldScore, goldScore } from './gold-score.ts';
export { makePost } from './make-post.ts';
export {
  type Candidate,
  makePreference,
  type Preference,
  type PreferenceOptions,
} from './make-preference.ts';
export {
  demonstrationMix,
  makeDemonstration,
  makeSummary,
  type SummaryKind,
  type SummaryOptions,
} from './make-summary.ts';
export type { Phrase, PhraseType } from './phrase.ts';
export { type Fact, type FactKind, factKinds, type Post } from './post.ts';
export { makeSplitPost, type Split, splitSize, splits } from './splits.ts';

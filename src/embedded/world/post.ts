import type { Phrase } from './phrase.ts';

/** What a summary has to tell, in the order of `Post.facts`. */
export const factKinds = ['who', 'event', 'when', 'measure', 'decision'] as const;
export type FactKind = (typeof factKinds)[number];

/** One of the things a summary has to tell. */
export interface Fact {
  readonly kind: FactKind;
  /** How the post says it. */
  readonly told: string;
  /** What tells it, any of them: `who` is told by the relation or by the name. */
  readonly phrases: readonly Phrase[];
}

/** A post of the small world, and what is known of it. */
export interface Post {
  /** The prompt: all of the post, up to and with `TL;DR:`. */
  readonly text: string;
  readonly title: string;
  /** The subreddit, without `r/`. */
  readonly scenario: string;
  /** The key facts: one of each kind. */
  readonly facts: readonly Fact[];
  /** The body, sentence by sentence. */
  readonly sentences: readonly string[];
  /** Those sentences that no summary needs. */
  readonly distractors: readonly string[];
}

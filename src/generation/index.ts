export type { Prompt } from './create-sequences.ts';
export {
  isInexact,
  type RolloutPrecision,
  recomputesLogprobs,
  sharedPrecision,
} from './decode-weights.ts';
export type { FinishedTurn, GenerationOptions, TurnResponder } from './generation-options.ts';
export { Generator, type GeneratorOptions } from './generator.ts';
export { countObserved, insertObservations } from './observation.ts';
export {
  type LikelyTokens,
  type SampledToken,
  type SampleOptions,
  Sampler,
  type SamplingOptions,
} from './sampler/sampler.ts';
export type { FinishReason, GeneratedText, TokenEvent } from './sequence.ts';

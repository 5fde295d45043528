export { type RolloutPrecision, sharedPrecision } from './decode-weights.ts';
export type { GenerationOptions } from './generation-options.ts';
export { Generator, type GeneratorOptions, type Prompt } from './generator.ts';
export {
  type LikelyTokens,
  type SampledToken,
  type SampleOptions,
  Sampler,
  type SamplingOptions,
} from './sampler/sampler.ts';
export type { FinishReason, GeneratedText, TokenEvent } from './sequence.ts';

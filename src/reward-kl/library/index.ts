export { combine } from '../to-weighted-sources.ts';
export {
  type NumericAnswerOptions,
  numericAnswer,
  type RougeOptions,
  rouge,
} from './answer.ts';
export {
  type FormatOptions,
  format,
  type JsonOptions,
  type JsonSchemaOptions,
  json,
  jsonSchema,
} from './format.ts';
export type { FromSample, LibraryReward } from './library-reward.ts';
export { sentiment } from './sentiment.ts';
export {
  type KeywordOptions,
  keyword,
  type RegexOptions,
  regex,
} from './text-content.ts';
export {
  type BrevityOptions,
  brevity,
  flesch,
  type LengthOptions,
  length,
  type RepetitionPenaltyOptions,
  repetitionPenalty,
} from './text-shape.ts';

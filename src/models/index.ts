export type { LayerRole } from './decoder/base-model.ts';
export { BaseModel, type BaseModelOptions, type Weights } from './decoder/base-model.ts';
export { createModel, freshArchitecture } from './decoder/create-model.ts';
export type { DecoderConfig, RopeConfig } from './decoder/decoder-config.ts';
export { type Architecture, readArchitecture } from './decoder/families/index.ts';
export { backward, type ForwardOptions, forward, runsInOneSession } from './decoder/forward.ts';
export { type LoadedModel, type LoadModelOptions, loadModel } from './decoder/load-model.ts';
export { mergeAdapter } from './decoder/merge-adapter.ts';
export { PackedBatch } from './decoder/packed-batch.ts';
export { type Pass, passOfRows, type RowPass } from './decoder/pass.ts';
export { type SaveModelOptions, saveModel } from './decoder/save-model.ts';
export { Trunk } from './decoder/trunk.ts';
export { PolicyModel, type PolicyOptions } from './policy-model.ts';
export {
  RewardModel,
  type RewardModelClass,
  type RewardModelOptions,
  type ScoreNormalization,
} from './reward-model.ts';
export {
  type LoadRewardModelOptions,
  loadRewardModel,
  saveRewardModel,
} from './reward-model-files.ts';
export type { RoleOptions, TrunkOptions } from './role-model.ts';
export {
  randomHead,
  readScalarHead,
  ScalarModel,
  type ScalarModelOptions,
  zeroHead,
} from './scalar-model.ts';
export { type ModelOutput, type ResponseLogprobs, SFTModel } from './sft-model.ts';
export type { TokenBatch } from './token-batch.ts';
export { ValueModel } from './value-model.ts';

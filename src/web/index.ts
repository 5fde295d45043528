/** Training in a tab: the model runs in a worker, on WebAssembly, and the rewards on the page. */
export type { AdapterFiles } from '../base-setup/lora/peft-reader.ts';
export type { PPOConfigOptions } from '../config/ppo-config.ts';
export type { TrainingConfigOptions } from '../config/training-config.ts';
export type { TrainEvent } from '../loop/index.ts';
export type { LibraryReward } from '../reward-kl/library/library-reward.ts';
export {
  type KeywordOptions,
  keyword,
  type RegexOptions,
  regex,
} from '../reward-kl/library/text-content.ts';
export {
  type BrevityOptions,
  brevity,
  flesch,
  type LengthOptions,
  length,
  type RepetitionPenaltyOptions,
  repetitionPenalty,
} from '../reward-kl/library/text-shape.ts';
export type {
  RewardFunction,
  RewardSample,
  RewardScore,
  RewardSource,
} from '../reward-kl/reward-source.ts';
export type { Reward, Rewards, WeightedReward } from '../reward-kl/to-weighted-sources.ts';
export { BrowserFolder } from './browser-folder.ts';
export type {
  GenerateOptions,
  MessagePlace,
  OpenedModel,
  OpenModelOptions,
  WasmOptions,
  WebText,
} from './messages.ts';
export {
  type FetchModelOptions,
  fetchModelFiles,
  type ModelFiles,
  modelFromFiles,
} from './model-files.ts';
export { createWebBackend, wasmThreads } from './web-backend.ts';
export {
  type OpenOptions,
  type TrainerWorker,
  WebTrainer,
  type WebTrainOptions,
  type WebTrainResult,
} from './web-trainer.ts';
export { WorkerHost, type WorkerHostOptions } from './worker-host.ts';

export type {
  RewardConfig,
  RewardConfigOptions,
  SFTConfig,
  SFTConfigOptions,
} from '../config/stage-config.ts';
export type { PreferenceTexts, RatedText, RewardTexts } from './reward-objective.ts';
export { RewardTrainer, type RewardTrainOptions } from './reward-trainer.ts';
export { type LanguageLoss, SFTTrainer, type SFTTrainOptions } from './sft-trainer.ts';

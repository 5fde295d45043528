export * from './advantage/index.ts';
export * from './base-setup/index.ts';
export { loadConfigFile } from './config/load-config-file.ts';
export { type ModelConfig, resolveModelConfig } from './config/model-config.ts';
export { ConfigError } from './config/parse-config.ts';
export { type PPOConfig, type PPOConfigOptions, resolvePPOConfig } from './config/ppo-config.ts';
export { type RunConfig, type RunConfigOptions, resolveRunConfig } from './config/run-config.ts';
export {
  resolveTrainingConfig,
  type TrainingConfig,
  type TrainingConfigOptions,
} from './config/training-config.ts';
export * from './data/index.ts';
export { embeddedFolder, embeddedPreferences } from './embedded/embedded-files.ts';
export * as world from './embedded/world/index.ts';
export * as graph from './engine/graph/index.ts';
export * from './engine/optim/index.ts';
export * from './engine/random/index.ts';
export * from './engine/runtime/index.ts';
export * from './experience-buffer/index.ts';
export * from './generation/index.ts';
export * from './loop/index.ts';
export * from './models/index.ts';
export * from './ppo-trainer/index.ts';
export * from './reward-kl/index.ts';
export * from './run/index.ts';
export * from './stages/index.ts';
export * from './token-attribution/index.ts';
export * from './training/index.ts';
export { version } from './version.ts';

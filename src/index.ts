export * from './base-setup/index.ts';
export { type ModelConfig, resolveModelConfig } from './config/model-config.ts';
export * as graph from './engine/graph/index.ts';
export * from './engine/optim/index.ts';
export * from './engine/random/index.ts';
export * from './engine/runtime/index.ts';
export * from './generation/index.ts';
export * from './models/index.ts';
export { version } from './version.ts';

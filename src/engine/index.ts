export * from './graph/index.ts';
export * from './optim/index.ts';
export * from './runtime/index.ts';

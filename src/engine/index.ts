/**
 * The compute engine: graphs of tensor operations, their gradients, ONNX Runtime sessions that run
 * them, optimisers over host arrays, and seeded random streams.
 * @module proximal/engine
 */
export * from './graph/index.ts';
export * from './optim/index.ts';
export * from './random/index.ts';
export * from './runtime/index.ts';

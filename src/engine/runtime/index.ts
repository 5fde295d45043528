export { byteLimit } from './byte-limit.ts';
export { type CompiledGraph, type CompileOptions, compile, type Outputs } from './compile.ts';
export type { Feeds, GraphInputs } from './feeds.ts';
export { observeRuns, type RunRecord } from './observe-runs.ts';
export { countSessions, type Device, threadCount } from './session.ts';
export { type HostDType, type Tensor, tensor } from './tensor.ts';

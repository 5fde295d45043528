export { type CompiledGraph, type CompileOptions, compile, type Outputs } from './compile.ts';
export type { Feeds, Inputs } from './feeds.ts';
export { countSessions, type Device } from './session.ts';
export { type HostDType, type Tensor, tensor } from './tensor.ts';

export type {
  Backend,
  BackendRuntime,
  BackendSession,
  Device,
  SessionSettings,
} from './backend.ts';
export { DeviceError } from './backends/device-error.ts';
export { WebBackend } from './backends/web-backend.ts';
export type { WebBackendOptions } from './backends/web-options.ts';
export { byteLimit } from './byte-limit.ts';
export { type CompiledGraph, type CompileOptions, compile, type Outputs } from './compile.ts';
export { countDeviceTensors, freeTensors, isOnHost } from './device-tensor.ts';
export { backendOf } from './devices.ts';
export type { Feeds, GraphInputs } from './feeds.ts';
export { type DeviceReport, expectDevice, findDevices } from './find-devices.ts';
export { machineMemory, memoryMetrics } from './machine-memory.ts';
export { observeRuns, type RunRecord } from './observe-runs.ts';
export { countSessions } from './session.ts';
export { type HostDType, type Tensor, tensor } from './tensor.ts';
export { threadCount } from './thread-count.ts';
export { readTensor, uploadTensor } from './transfer.ts';

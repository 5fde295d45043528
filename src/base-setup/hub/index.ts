export type { DownloadProgress } from './download-files.ts';
export { HubError, type HubFailure } from './hub-error.ts';
export { type ResolveModelOptions, resolveModel } from './resolve-model.ts';

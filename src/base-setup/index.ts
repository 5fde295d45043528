export * from './hub/index.ts';
export type { AdapterBase, BaseFingerprint } from './lora/base-fingerprint.ts';
export { LoraAdapter, type ModuleShapes } from './lora/lora-adapter.ts';
export { defaultLoraConfig, type LoraConfig } from './lora/lora-config.ts';
export { scoreWeightName } from './lora/peft-config.ts';
export { type PeftAdapter, readAdapter } from './lora/peft-reader.ts';
export { type WriteAdapterOptions, writeAdapter } from './lora/peft-writer.ts';
export * from './safetensors/index.ts';
export * from './tokenizer/index.ts';

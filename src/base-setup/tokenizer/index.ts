export type { ChatMessage, ChatTemplateOptions } from './chat-template.ts';
export { loadTokenizer } from './load-tokenizer.ts';
export { type DecodeOptions, StreamingDecoder } from './streaming-decoder.ts';
export { type EncodeOptions, Tokenizer } from './tokenizer.ts';

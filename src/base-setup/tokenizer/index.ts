export type { ChatMessage, ChatTemplateOptions } from './chat-template.ts';
export { loadTokenizer } from './load-tokenizer.ts';
export {
  type DecodeOptions,
  type EncodeOptions,
  StreamingDecoder,
  Tokenizer,
} from './tokenizer.ts';

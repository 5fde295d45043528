export type { ChatMessage, ChatTemplateOptions } from './chat-template.ts';
export {
  type DecodeOptions,
  type EncodeOptions,
  loadTokenizer,
  StreamingDecoder,
  Tokenizer,
} from './tokenizer.ts';

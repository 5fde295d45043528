import {
  type DecoderStage,
  decodeByteFallback,
  decodeByteLevel,
  decodeMetaspace,
  decodeReplace,
  decodeStrip,
  type TextSink,
} from './decoder-stages.ts';

/** The `decoder` of a tokenizer.json. */
export interface DecoderConfig {
  readonly type: string;
  readonly decoders?: readonly DecoderConfig[];
  readonly pattern?: { readonly String?: string };
  readonly content?: string;
  readonly start?: number;
  readonly stop?: number;
  readonly replacement?: string;
  readonly prepend_scheme?: string;
}

const pass: DecoderStage = (next) => next;

/** Builds the way from tokens to text that a tokenizer.json describes, such as
 *  `Replace ▁, ByteFallback, Fuse, Strip` for Llama 2 or `ByteLevel` for Qwen and Llama 3.
 *
 *  Written here because it must run token by token, and because @huggingface/tokenizers differs from
 *  the native library on byte tokens that are no UTF-8. */
export function makeDecoder(config: DecoderConfig | null | undefined): DecoderStage {
  if (config == null) return joinBySpaces;
  const configs = config.type === 'Sequence' ? (config.decoders ?? []) : [config];
  const isFuse = ({ type }: DecoderConfig) => type === 'Fuse' || type === 'ByteLevel';
  const fuse = configs.findIndex(isFuse);
  const stages = configs.map((one, i) => makeStage(one, fuse >= 0 && fuse < i));
  return (sink) => stages.reduceRight((next, stage) => stage(next), sink);
}

function makeStage(config: DecoderConfig, fused: boolean): DecoderStage {
  const { type, pattern, content = '', start = 0, stop = 0 } = config;
  switch (type) {
    case 'ByteLevel':
      return decodeByteLevel;
    case 'ByteFallback':
      return decodeByteFallback;
    case 'Fuse':
      return pass;
    case 'Metaspace':
      return decodeMetaspace(config.replacement ?? '▁', config.prepend_scheme !== 'never');
    case 'Replace':
      // A longer pattern could match across the tokens of a fused text.
      if (pattern?.String === undefined || (fused && pattern.String.length > 1)) break;
      return decodeReplace(pattern.String, content);
    case 'Strip':
      if (stop !== 0) break;
      return decodeStrip({ content, start, fused });
  }
  throw new TypeError(
    `its decoder must be made of ByteLevel, ByteFallback, Fuse, Metaspace, Replace and Strip (at the start), got ${JSON.stringify(config)}`,
  );
}

/** What the native library does without a decoder. */
function joinBySpaces(next: TextSink): TextSink {
  let isFirst = true;
  return {
    push(text, at) {
      next.push(isFirst ? text : ` ${text}`, at);
      isFirst = false;
    },
    finish: () => next.finish(),
  };
}

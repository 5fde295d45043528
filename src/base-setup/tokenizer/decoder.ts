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

const passThrough: DecoderStage = (next) => next;

/** Builds the decoder that a tokenizer.json describes, such as
 *  `Replace ▁, ByteFallback, Fuse, Strip` for Llama 2 or `ByteLevel` for Qwen and Llama 3.
 *
 *  Implemented here because it must work token by token, and because @huggingface/tokenizers differs
 *  from the native library on byte tokens that are not UTF-8. */
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
      return passThrough;
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
  throw new RangeError(
    `its decoder must consist of ByteLevel, ByteFallback, Fuse, Metaspace, Replace and Strip (at the start), got ${JSON.stringify(config)}`,
  );
}

/** The native library's behaviour without a decoder. */
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

/** Receives the text of tokens one after another; `at` is the index of the token. */
export interface TextSink {
  push(text: string, at: number): void;
  /** Signals that no more tokens follow, so text that was held back is passed on. */
  finish(): void;
}

/** One stage of decoding, which passes its results to the next. */
export type DecoderStage = (next: TextSink) => TextSink;

/** Byte-level BPE: the characters of a token represent bytes of UTF-8. The first bytes of a character
 *  wait for the rest; invalid UTF-8 becomes U+FFFD. */
function decodeByteLevel(next: TextSink): TextSink {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let last = -1;
  return {
    push(text, at) {
      last = at;
      next.push(decoder.decode(toBytes(text), { stream: true }), at);
    },
    finish() {
      next.push(decoder.decode(), last);
      next.finish();
    },
  };
}

/** A token with other characters, such as an added token, is plain text. */
function toBytes(text: string): Uint8Array {
  const bytes = Array.from(text, (character) => byteOfCharacter.get(character));
  return bytes.every((byte) => byte !== undefined)
    ? Uint8Array.from(bytes)
    : new TextEncoder().encode(text);
}

/** Sentencepiece: tokens such as `<0xE2>` represent a byte. A run of them is text if all of it is
 *  UTF-8, otherwise every byte becomes U+FFFD, so the run waits for the next token.
 *  @example `<0xE2>` `<0x82>` `<0xAC>` `a`  →  `` `` `€` `a` */
function decodeByteFallback(next: TextSink): TextSink {
  let run: { byte: number; at: number }[] = [];
  const endRun = () => {
    const bytes = Uint8Array.from(run, ({ byte }) => byte);
    const text = decodeStrictly(bytes);
    let end = 0;
    // Each character belongs to the token of its last byte.
    for (const character of text ?? '\ufffd'.repeat(run.length)) {
      end += text === undefined ? 1 : new TextEncoder().encode(character).length;
      next.push(character, run[end - 1]!.at);
    }
    run = [];
  };
  return {
    push(text, at) {
      const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(text)?.[1];
      if (byte !== undefined) return void run.push({ byte: Number.parseInt(byte, 16), at });
      endRun();
      next.push(text, at);
    },
    finish() {
      endRun();
      next.finish();
    },
  };
}

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Replaces a character in every token, such as `▁` with a space. */
function decodeReplace(pattern: string, content: string): DecoderStage {
  return (next) => ({
    push: (text, at) => next.push(text.replaceAll(pattern, content), at),
    finish: () => next.finish(),
  });
}

interface StripOptions {
  /** The character to remove. */
  readonly content: string;
  /** At most how many to remove. */
  readonly start: number;
  /** Whether the tokens were fused into one text, or each token has its own start. */
  readonly fused: boolean;
}

/** Removes characters from the start, such as the space that sentencepiece prepends. */
function decodeStrip({ content, start, fused }: StripOptions): DecoderStage {
  return (next) => {
    let left = start;
    return {
      push(text, at) {
        if (!fused) left = start;
        let rest = text;
        for (; left > 0 && rest.startsWith(content); left--) rest = rest.slice(content.length);
        if (rest !== '') left = 0;
        next.push(rest, at);
      },
      finish: () => next.finish(),
    };
  };
}

/** Sentencepiece's `▁` is a space, except in the first token, where it is removed. */
function decodeMetaspace(replacement: string, prepended: boolean): DecoderStage {
  return (next) => {
    let isFirst = true;
    return {
      push(text, at) {
        next.push(text.replaceAll(replacement, isFirst && prepended ? '' : ' '), at);
        isFirst = false;
      },
      finish: () => next.finish(),
    };
  };
}

/** The byte that each character of a byte-level token represents, as in GPT-2: printable Latin-1
 *  characters represent themselves, the other bytes use characters from U+0100.
 *  @example `!` → 0x21, `é` → 0xE9, `Ā` → 0x00, `Ġ` → 0x20 */
export const byteOfCharacter: ReadonlyMap<string, number> = mapByteCharacters();

function mapByteCharacters(): Map<string, number> {
  const map = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    map.set(String.fromCharCode(isPrintable ? byte : next++), byte);
  }
  return map;
}

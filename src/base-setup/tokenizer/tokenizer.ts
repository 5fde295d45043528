import { type ChatMessage, ChatTemplate, type ChatTemplateOptions } from './chat-template.ts';
import { type DecoderStage, makeDecoder, type TextSink } from './decoder.ts';
import { fixPreTokenizer } from './fix-pre-tokenizer.ts';
import { LibraryTokenizer } from './libraries.ts';
import { findSpecialIds, findSpecialTokens, type Vocabulary } from './special-tokens.ts';
import { type AddedTokenConfig, joinName, type TokenizerFiles } from './tokenizer-files.ts';

/** Milliseconds that any text may take, plus one per character; real patterns take a thousandth. */
const encodeTime = 10_000;

/** How a text is turned into token ids. */
export interface EncodeOptions {
  /** Add the tokens that the model expects around a text, such as Llama's `<s>`; true by default. */
  readonly addSpecialTokens?: boolean;
}

/** Calls a function, and throws what `explain` returns if it takes longer than `limit` milliseconds. */
export type CallWithin = <T>(
  run: () => T,
  options: { readonly limit: number; readonly explain: () => Error },
) => T;

/** How a tokenizer runs. */
export interface TokenizerOptions {
  /** Limits the time of encoding: patterns of a file may never end. A browser has no such limit; there a
   *  worker can be terminated. */
  readonly callWithin?: CallWithin | undefined;
}

/** A model's tokenizer: text to ids and back, with the same results as the native library. */
export class Tokenizer implements TokenReader {
  /** The token that starts a text, if the model has one. */
  readonly bosId: number | undefined;
  /** All tokens that end a text. */
  readonly eosIds: readonly number[];
  /** The padding token; never one of `eosIds`. See `padIsVirtual`. */
  readonly padId: number;
  /** One more than the largest id; a model's embedding may have more rows. */
  readonly vocabSize: number;
  /** The tokens that `skipSpecialTokens` omits. */
  readonly specialIds: ReadonlySet<number>;
  readonly decoderStage: DecoderStage;
  private readonly library: LibraryTokenizer;
  private readonly chatTemplate: ChatTemplate;
  private readonly callWithin: CallWithin;

  constructor(files: TokenizerFiles, { callWithin = (run) => run() }: TokenizerOptions = {}) {
    this.callWithin = callWithin;
    const tokenizer = {
      ...files.tokenizer,
      added_tokens: mergeAdded(files),
      pre_tokenizer: fixPreTokenizer(files.tokenizer.pre_tokenizer),
    };
    this.library = new LibraryTokenizer(tokenizer, {});
    this.decoderStage = makeDecoder(tokenizer.decoder);
    this.vocabSize = this.library.model.vocab.length;
    const vocabulary: Vocabulary = {
      size: this.vocabSize,
      added: tokenizer.added_tokens,
      idOf: (token) => this.library.token_to_id(token),
    };
    const { bosId, eosIds, padId, names } = findSpecialTokens(files, vocabulary);
    this.bosId = bosId;
    this.eosIds = eosIds;
    this.padId = padId;
    this.specialIds = findSpecialIds(tokenizer.added_tokens, { config: files.config, vocabulary });
    this.chatTemplate = new ChatTemplate(files, names);
  }

  /** Whether no token was free for padding, so `padId` must never reach the model. */
  get padIsVirtual(): boolean {
    return this.padId >= this.vocabSize;
  }

  /** The ids of a text. Special tokens written in the text become those tokens; lone surrogates, which
   *  UTF-8 cannot represent, become U+FFFD. */
  encode(text: string, { addSpecialTokens = true }: EncodeOptions = {}): Int32Array {
    const valid = text.replace(/\p{Surrogate}/gu, '\ufffd');
    const options = { add_special_tokens: addSpecialTokens };
    const { ids, tokens } = this.callWithin(() => this.library.encode(valid, options), {
      limit: encodeTime + text.length,
      explain: () =>
        new Error(
          `Cannot encode text: tokenizer.json must split ${text.length} characters within ${Math.ceil((encodeTime + text.length) / 1000)} seconds, took longer; use patterns without nested repetition`,
        ),
    });
    const unknown = tokens.find((_, i) => ids[i] === undefined);
    if (unknown !== undefined) {
      throw new RangeError(
        `Cannot encode text: token "${unknown}" must be in the vocabulary, got no such token; correct tokenizer.json`,
      );
    }
    return Int32Array.from(ids as readonly number[]);
  }

  /** The text of ids; an id without a token, such as a virtual PAD, adds nothing. */
  decode(ids: Iterable<number>, options: DecodeOptions = {}): string {
    const decoder = new StreamingDecoder(this, options);
    let text = '';
    for (const id of ids) text += decoder.push(id);
    return text + decoder.finish();
  }

  /** Each id's part of `decode(ids)`. A character that spans several tokens belongs to the last.
   *  @example Llama 2, ▁ <0xF0> <0x9F> <0x99> <0x82> ▁ok  →  ['', '', '', '', '🙂', ' ok'] */
  pieces(ids: Iterable<number>, options: DecodeOptions = {}): string[] {
    const pieces: string[] = [];
    const sink = this.decoderStage({
      push: (text, at) => {
        if (at >= 0) pieces[at] += text;
      },
      finish: () => {},
    });
    const send = (id: number, at: number) => {
      const token = this.readToken(id, options);
      if (token !== undefined) sink.push(token, at);
    };
    for (const id of options.after ?? []) send(id, -1);
    for (const id of ids) send(id, pieces.push('') - 1);
    sink.finish();
    return pieces;
  }

  readToken(id: number, { skipSpecialTokens = false }: DecodeOptions): string | undefined {
    return skipSpecialTokens && this.specialIds.has(id) ? undefined : this.library.id_to_token(id);
  }

  /** Formats a conversation as in the model's training. Encode the result with
   *  `addSpecialTokens: false`, because the template adds them itself. */
  applyChatTemplate(messages: readonly ChatMessage[], options: ChatTemplateOptions = {}): string {
    return this.chatTemplate.render(messages, options);
  }
}

/** Also adds the tokens that are only in tokenizer_config.json, as in transformers. */
function mergeAdded({ tokenizer, config }: TokenizerFiles): AddedTokenConfig[] {
  const added = tokenizer.added_tokens ?? [];
  const known = new Set(added.map(({ id }) => id));
  const more = Object.entries(config.added_tokens_decoder ?? {})
    .map(([id, token]) => ({ ...token, id: Number(id) }))
    .filter(({ id }) => !known.has(id));
  return [...added, ...more];
}

/** Creates a tokenizer from its files. Errors name tokenizer.json.
 *  @param where folder or address of the files */
export function createTokenizer(
  files: TokenizerFiles,
  { where, ...options }: TokenizerOptions & { readonly where: string },
): Tokenizer {
  try {
    return new Tokenizer(files, options);
  } catch (cause) {
    const { message } = cause as Error;
    // A library that reads a part of the wrong type fails in its own words.
    const problem =
      cause instanceof TypeError
        ? `it and the files next to it must have the parts that transformers writes, got others (${message}); save the tokenizer again`
        : message;
    throw new TypeError(`Cannot load ${joinName(where, 'tokenizer.json')}: ${problem}`, { cause });
  }
}

/** How token ids are turned back into text. */
export interface DecodeOptions {
  /** Omit special tokens such as `<|im_end|>`; false by default. */
  readonly skipSpecialTokens?: boolean;
  /** Preceding tokens whose text is not returned. Pass the prompt here to decode a response: without
   *  it, Llama's first token loses its space. */
  readonly after?: Iterable<number>;
}

/** What decoding needs from a tokenizer. */
export interface TokenReader {
  readonly decoderStage: DecoderStage;
  /** The token in the vocabulary, or undefined if there is none or the options skip it. */
  readToken(id: number, options: DecodeOptions): string | undefined;
}

/** Turns tokens into text as they arrive. The concatenated results of `push` and `finish` equal
 *  `decode` of all tokens: bytes of an unfinished character wait until it is complete, and a run of
 *  sentencepiece's byte tokens until it ends.
 *  @example
 *  const decoder = new StreamingDecoder(tokenizer, { after: promptIds });
 *  for (const id of ids) process.stdout.write(decoder.push(id));
 *  process.stdout.write(decoder.finish()); */
export class StreamingDecoder {
  private readonly reader: TokenReader;
  private readonly options: DecodeOptions;
  private readonly sink: TextSink;
  private pending = '';

  constructor(tokenizer: TokenReader, options: DecodeOptions = {}) {
    this.reader = tokenizer;
    this.options = options;
    this.sink = tokenizer.decoderStage({
      push: (text, at) => {
        if (at >= 0) this.pending += text;
      },
      finish: () => {},
    });
    for (const id of options.after ?? []) this.send(id, -1);
  }

  /** Adds a token and returns the text that is now certain, possibly none. */
  push(id: number): string {
    this.send(id, 0);
    return this.take();
  }

  /** Returns the text that was held back; bytes of an incomplete character become U+FFFD. */
  finish(): string {
    this.sink.finish();
    return this.take();
  }

  private send(id: number, at: number): void {
    const token = this.reader.readToken(id, this.options);
    if (token !== undefined) this.sink.push(token, at);
  }

  private take(): string {
    const text = this.pending;
    this.pending = '';
    return text;
  }
}

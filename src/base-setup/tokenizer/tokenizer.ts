import { type ChatMessage, ChatTemplate, type ChatTemplateOptions } from './chat-template.ts';
import type { DecoderStage } from './decoder-stages.ts';
import { LibraryTokenizer } from './libraries.ts';
import { makeDecoder } from './make-decoder.ts';
import { mendPreTokenizer } from './mend-pre-tokenizer.ts';
import { findSpecialIds, findSpecialTokens, type Vocabulary } from './special-tokens.ts';
import { type DecodeOptions, StreamingDecoder, type TokenReader } from './streaming-decoder.ts';
import type { AddedTokenConfig, TokenizerFiles } from './tokenizer-files.ts';

export interface EncodeOptions {
  /** Adds what the model wants around a text, such as Llama's `<s>`; true by default. */
  readonly addSpecialTokens?: boolean;
}

/** A model's tokenizer: text to ids and back, exactly as the native library does it. */
export class Tokenizer implements TokenReader {
  /** Starts a text, if the model has such a token. */
  readonly bosId: number | undefined;
  /** End a text, each of them. */
  readonly eosIds: readonly number[];
  /** Fills a batch; never one of `eosIds`. See `padIsVirtual`. */
  readonly padId: number;
  /** One more than the largest id; a model's embedding may have more rows. */
  readonly vocabSize: number;
  /** What `skipSpecialTokens` leaves out. */
  readonly specialIds: ReadonlySet<number>;
  readonly decoderStage: DecoderStage;
  private readonly library: LibraryTokenizer;
  private readonly chatTemplate: ChatTemplate;

  constructor(files: TokenizerFiles) {
    const tokenizer = {
      ...files.tokenizer,
      added_tokens: mergeAdded(files),
      pre_tokenizer: mendPreTokenizer(files.tokenizer.pre_tokenizer),
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

  /** Whether no token could be spared for padding, so that `padId` must never reach the model. */
  get padIsVirtual(): boolean {
    return this.padId >= this.vocabSize;
  }

  /** A text's ids. Special tokens written in the text become those tokens, and halves of surrogate
   *  pairs, which UTF-8 cannot hold, become U+FFFD. */
  encode(text: string, { addSpecialTokens = true }: EncodeOptions = {}): Int32Array {
    const { ids, tokens } = this.library.encode(text.replace(/\p{Surrogate}/gu, '\ufffd'), {
      add_special_tokens: addSpecialTokens,
    });
    const unknown = tokens.find((_, i) => ids[i] === undefined);
    if (unknown !== undefined) {
      throw new RangeError(
        `Cannot encode text: token "${unknown}" must be in the vocabulary, got none of that name; correct tokenizer.json`,
      );
    }
    return Int32Array.from(ids as readonly number[]);
  }

  /** The text of ids; an id without a token, such as a virtual PAD, is no text. */
  decode(ids: Iterable<number>, options: DecodeOptions = {}): string {
    const decoder = new StreamingDecoder(this, options);
    let text = '';
    for (const id of ids) text += decoder.push(id);
    return text + decoder.finish();
  }

  /** Each id's part of `decode(ids)`. A character that is spread over tokens belongs to the last.
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

  /** A conversation as the model was trained to see it. Encode it with `addSpecialTokens: false`:
   *  the template writes them itself. */
  applyChatTemplate(messages: readonly ChatMessage[], options: ChatTemplateOptions = {}): string {
    return this.chatTemplate.render(messages, options);
  }
}

/** Tokens that only tokenizer_config.json knows are added too, as in transformers. */
function mergeAdded({ tokenizer, config }: TokenizerFiles): AddedTokenConfig[] {
  const added = tokenizer.added_tokens ?? [];
  const known = new Set(added.map(({ id }) => id));
  const more = Object.entries(config.added_tokens_decoder ?? {})
    .map(([id, token]) => ({ ...token, id: Number(id) }))
    .filter(({ id }) => !known.has(id));
  return [...added, ...more];
}

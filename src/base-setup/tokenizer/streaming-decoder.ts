import type { DecoderStage, TextSink } from './decoder-stages.ts';

export interface DecodeOptions {
  /** Leaves out special tokens such as `<|im_end|>`; false by default. */
  readonly skipSpecialTokens?: boolean;
  /** Tokens that go before, whose text is not given. A prompt belongs here when a response is
   *  decoded: after nothing, Llama's first token loses its space. */
  readonly after?: Iterable<number>;
}

/** What decoding needs to know of a tokenizer. */
export interface TokenReader {
  readonly decoderStage: DecoderStage;
  /** The token as the vocabulary has it, if it has it and the options want it. */
  readToken(id: number, options: DecodeOptions): string | undefined;
}

/** Turns tokens into text as they come. The texts of `push` and `finish`, one after another, are
 *  exactly what `decode` gives for all tokens: bytes of an unfinished character wait until it is
 *  complete, and a run of sentencepiece's byte tokens until it ends.
 *  @example
 *  const decoder = new StreamingDecoder(tokenizer, { after: promptIds });
 *  for (const id of ids) process.stdout.write(decoder.push(id));
 *  process.stdout.write(decoder.finish()); */
export class StreamingDecoder {
  private readonly reader: TokenReader;
  private readonly options: DecodeOptions;
  private readonly sink: TextSink;
  private waiting = '';

  constructor(tokenizer: TokenReader, options: DecodeOptions = {}) {
    this.reader = tokenizer;
    this.options = options;
    this.sink = tokenizer.decoderStage({
      push: (text, at) => {
        if (at >= 0) this.waiting += text;
      },
      finish: () => {},
    });
    for (const id of options.after ?? []) this.send(id, -1);
  }

  /** The text that is certain now, which may be none. */
  push(id: number): string {
    this.send(id, 0);
    return this.take();
  }

  /** The text that was held back; bytes that never became a character are U+FFFD. */
  finish(): string {
    this.sink.finish();
    return this.take();
  }

  private send(id: number, at: number): void {
    const token = this.reader.readToken(id, this.options);
    if (token !== undefined) this.sink.push(token, at);
  }

  private take(): string {
    const text = this.waiting;
    this.waiting = '';
    return text;
  }
}

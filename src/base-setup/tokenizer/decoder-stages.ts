import { byteOfCharacter } from './byte-characters.ts';

/** Takes the text of tokens one after another; `at` counts the tokens. */
export interface TextSink {
  push(text: string, at: number): void;
  /** No more tokens follow: what was held back goes out. */
  finish(): void;
}

/** One step of decoding, which hands its results on. */
export type DecoderStage = (next: TextSink) => TextSink;

/** Byte-level BPE: the characters of a token stand for bytes of UTF-8. Bytes that begin a character
 *  wait for the rest of it; what is no UTF-8 becomes U+FFFD. */
export function decodeByteLevel(next: TextSink): TextSink {
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

/** A token with other characters, such as an added one, stands for itself. */
function toBytes(text: string): Uint8Array {
  const bytes = Array.from(text, (character) => byteOfCharacter.get(character));
  return bytes.every((byte) => byte !== undefined)
    ? Uint8Array.from(bytes)
    : new TextEncoder().encode(text);
}

/** Sentencepiece: tokens such as `<0xE2>` stand for a byte. A run of them is text if all of it is
 *  UTF-8, else every byte becomes U+FFFD; so the run waits for the token after it.
 *  @example `<0xE2>` `<0x82>` `<0xAC>` `a`  →  `` `` `€` `a` */
export function decodeByteFallback(next: TextSink): TextSink {
  let run: { byte: number; at: number }[] = [];
  const endRun = () => {
    const bytes = Uint8Array.from(run, ({ byte }) => byte);
    const text = decodeStrictly(bytes);
    let end = 0;
    // Each character belongs to the token of its last byte.
    for (const character of text ?? '\ufffd'.repeat(run.length)) {
      end += text === undefined ? 1 : Buffer.byteLength(character);
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

/** Replaces a character in every token, such as `▁` by a space. */
export function decodeReplace(pattern: string, content: string): DecoderStage {
  return (next) => ({
    push: (text, at) => next.push(text.replaceAll(pattern, content), at),
    finish: () => next.finish(),
  });
}

export interface StripOptions {
  /** The character to remove. */
  readonly content: string;
  /** How many of it to remove, at most. */
  readonly start: number;
  /** Whether the tokens were fused to one text, or each has a start of its own. */
  readonly fused: boolean;
}

/** Removes characters from the start, such as the space that sentencepiece puts before a text. */
export function decodeStrip({ content, start, fused }: StripOptions): DecoderStage {
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

/** Sentencepiece's `▁` is a space, but nothing in the first token. */
export function decodeMetaspace(replacement: string, prepended: boolean): DecoderStage {
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

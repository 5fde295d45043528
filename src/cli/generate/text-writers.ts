import { dim, type Output } from '../terminal.ts';
import type { TextInProgress } from './text-in-progress.ts';

/** A text and where it belongs. */
export interface PlacedText {
  readonly prompt: string;
  readonly promptIndex: number;
  readonly sample: number;
  readonly promptTokens: Int32Array;
  readonly text: TextInProgress;
}

/** How texts are shown. */
export interface TextWriter {
  /** More of a text came. */
  piece(text: string, placed: PlacedText): void;
  /** A text is complete. */
  done(placed: PlacedText): void;
  /** No more will come, perhaps too early. */
  close(): void;
}

/** One text as it comes; on a terminal after its prompt, which in a chat has a line of its own. */
export function streamWriter(output: Output, { chat }: { chat: boolean }): TextWriter {
  let isOpen = false;
  return {
    piece(text, { prompt }) {
      if (!isOpen && output.isTTY) output.write(dim(chat ? `> ${prompt}\n` : prompt, output));
      isOpen = true;
      output.write(text);
    },
    done: () => {},
    close() {
      if (isOpen) output.write('\n');
    },
  };
}

/** Several texts, each under a line that says which. */
export function listWriter(output: Output): TextWriter {
  return {
    piece: () => {},
    done({ prompt, promptIndex, sample, text }) {
      const start = prompt.replace(/\s+/g, ' ').trim();
      const shown = start.length > 50 ? `${start.slice(0, 49)}…` : start;
      const header = `── prompt ${promptIndex + 1}, text ${sample + 1}: ${shown}`;
      output.write(`${dim(header, output)}\n${text.text}\n\n`);
    },
    close: () => {},
  };
}

/** One line of JSON for each text. */
export function jsonWriter(output: Output): TextWriter {
  return {
    piece: () => {},
    done({ prompt, promptIndex, sample, promptTokens, text }) {
      const line = {
        promptIndex,
        sample,
        prompt,
        text: text.text,
        finishReason: text.finishReason,
        promptTokens: Array.from(promptTokens),
        tokens: text.tokens,
        pieces: text.pieces,
        logprobs: text.logprobs,
        samplingLogprobs: text.samplingLogprobs,
      };
      output.write(`${JSON.stringify(line)}\n`);
    },
    close: () => {},
  };
}

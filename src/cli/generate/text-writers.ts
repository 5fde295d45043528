import type { GeneratedText } from '../../generation/sequence.ts';
import { stripControls } from '../strip-controls.ts';
import { dim, type Output } from '../terminal.ts';

/** How texts are shown. */
export interface TextWriter {
  /** More of a prompt's text came. */
  piece(text: string, prompt: string): void;
  /** A text is complete. */
  done(text: GeneratedText, prompt: string): void;
  /** No more will come, perhaps too early. */
  close(): void;
}

/** One text as it comes; on a terminal after its prompt, which in a chat has a line of its own. */
export function streamWriter(output: Output, { chat }: { chat: boolean }): TextWriter {
  let isOpen = false;
  return {
    piece(text, prompt) {
      const start = stripControls(prompt);
      if (!isOpen && output.isTTY) output.write(dim(chat ? `> ${start}\n` : start, output));
      isOpen = true;
      output.write(stripControls(text));
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
    done({ prompt: index, sample, text }, prompt) {
      const start = stripControls(prompt).replace(/\s+/g, ' ').trim();
      const shown = start.length > 50 ? `${start.slice(0, 49)}…` : start;
      const header = `── prompt ${index + 1}, text ${sample + 1}: ${shown}`;
      output.write(`${dim(header, output)}\n${stripControls(text)}\n\n`);
    },
    close: () => {},
  };
}

/** One line of JSON for each text. */
export function jsonWriter(output: Output): TextWriter {
  return {
    piece: () => {},
    done({ prompt: promptIndex, promptTokens, ...text }, prompt) {
      const line = {
        promptIndex,
        prompt,
        ...text,
        promptTokens: Array.from(promptTokens),
        tokens: Array.from(text.tokens),
        logprobs: Array.from(text.logprobs),
        samplingLogprobs: Array.from(text.samplingLogprobs),
      };
      output.write(`${JSON.stringify(line)}\n`);
    },
    close: () => {},
  };
}

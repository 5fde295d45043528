import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import { RowError } from './data-row.ts';
import { isBlank, renderChat, type Turn, toMessages } from './row-columns.ts';

/** A prompt and its completions as the model sees them: a whole text is prompt + completion. */
export interface RenderedRow {
  readonly promptText: string;
  readonly completionTexts: readonly string[];
  /** Whether the chat template was applied, which adds special tokens itself. */
  readonly isChat: boolean;
}

export interface RenderRowOptions {
  readonly tokenizer: Tokenizer;
  readonly chat: boolean;
  readonly systemPrompt?: string | undefined;
  /** JSON schemas of functions that the template describes. */
  readonly tools?: readonly object[] | undefined;
  readonly origin: string;
}

/** Formats a prompt and its completions for the model: plain texts are unchanged; messages go through
 *  the chat template, and what follows the start of the answer is the completion. */
export function renderRow(
  { prompt, completions }: { readonly prompt: Turn; readonly completions: readonly Turn[] },
  options: RenderRowOptions,
): RenderedRow {
  const { chat, systemPrompt, origin } = options;
  if (completions.some(isBlank)) throw emptyError('completion', origin);
  if (isBlank(prompt)) throw emptyError('prompt', origin);
  if (!chat && [prompt, ...completions].every((turn) => typeof turn === 'string')) {
    if (systemPrompt !== undefined) throw noChat(origin);
    return {
      promptText: prompt as string,
      completionTexts: completions as readonly string[],
      isChat: false,
    };
  }
  const messages = toMessages(prompt, 'user');
  const promptText = renderChat(messages, { ...options, addGenerationPrompt: true });
  const completionTexts = completions.map((completion) => {
    const conversation = [...messages, ...toMessages(completion, 'assistant')];
    const text = renderChat(conversation, { ...options, addGenerationPrompt: false });
    if (!text.startsWith(promptText)) throw templateError(origin);
    return text.slice(promptText.length).trimEnd();
  });
  return { promptText, completionTexts, isChat: true };
}

/** The error for a template that changes the prompt once there is an answer. */
export function templateError(origin: string): RowError {
  return new RowError(
    `Cannot apply the chat template to ${origin}: a conversation must start with its prompt and the start of the answer, got a different text; use a template that only appends messages`,
    { reason: 'chat-template', origin },
  );
}

export function emptyError(part: 'prompt' | 'completion', origin: string): RowError {
  return new RowError(`Cannot read ${origin}: its ${part} must have text, got none`, {
    reason: `empty-${part}`,
    origin,
  });
}

function noChat(origin: string): RowError {
  return new RowError(
    `Cannot add a system prompt to ${origin}: it must be a chat, got plain text; set chat, or remove systemPrompt`,
    { reason: 'wrong-type', origin },
  );
}

/** Characters of the preceding text that are encoded as context: more than the last word. */
const contextLength = 64;

/** The tokens of a text that follows another, whose tokens do not change: in PPO, too, the prompt is
 *  encoded before its response is known.
 *
 *  Encodes both texts together and drops the tokens of the first. If a token would span both texts,
 *  the second is encoded alone.
 *  @example Llama 2, ' b' after 'A:'  →  [▁b], where ' b' alone would be [▁▁ b] */
export function encodeAfter(
  before: string,
  text: string,
  { tokenizer }: { readonly tokenizer: Tokenizer },
): Int32Array {
  const encode = (some: string) => tokenizer.encode(some, { addSpecialTokens: false });
  const context = before.slice(-contextLength);
  const start = encode(context);
  const both = encode(context + text);
  return start.every((id, i) => id === both[i]) ? both.slice(start.length) : encode(text);
}

/** Appends the tokenizer's EOS token unless the tokens end with one.
 *  @example [5, 7], EOS 1  →  [5, 7, 1];  [5, 1]  →  [5, 1] */
export function endWithEos(tokens: Int32Array, tokenizer: Tokenizer): Int32Array {
  const last = tokens.at(-1);
  return last !== undefined && tokenizer.eosIds.includes(last)
    ? tokens
    : joinTokens([tokens, Int32Array.of(tokenizer.eosIds[0]!)]);
}

/** Requires an EOS token, before any row is read. */
export function expectEos(tokenizer: Tokenizer): void {
  if (tokenizer.eosIds.length > 0) return;
  throw new TypeError(
    'Cannot end completions: the tokenizer must have an EOS token, got none; name it in tokenizer_config.json, or set appendEos to false',
  );
}

export function joinTokens(parts: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

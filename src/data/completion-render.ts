import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import { isBlank, renderChat, type Turn, toMessages } from './line-chat.ts';
import { LineFault } from './line-fault.ts';

/** A prompt and its completions as the model sees them: each text is prompt + completion. */
export interface RenderedRow {
  readonly promptText: string;
  readonly completionTexts: readonly string[];
  /** Whether the chat template made them, which writes special tokens itself. */
  readonly isChat: boolean;
}

export interface RenderRowOptions {
  readonly tokenizer: Tokenizer;
  readonly chat: boolean;
  readonly systemPrompt?: string | undefined;
  readonly origin: string;
}

/** Gives a prompt and its completions the model's form: plain texts stay as they are; messages go
 *  through the chat template, and what it writes behind the start of the answer is the completion. */
export function renderRow(
  { prompt, completions }: { readonly prompt: Turn; readonly completions: readonly Turn[] },
  options: RenderRowOptions,
): RenderedRow {
  const { chat, systemPrompt, origin } = options;
  if (completions.some(isBlank)) throw emptyFault('completion', origin);
  if (isBlank(prompt)) throw emptyFault('prompt', origin);
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
    const whole = [...messages, ...toMessages(completion, 'assistant')];
    const text = renderChat(whole, { ...options, addGenerationPrompt: false });
    if (!text.startsWith(promptText)) throw templateFault(origin);
    return text.slice(promptText.length).trimEnd();
  });
  return { promptText, completionTexts, isChat: true };
}

/** A template that rewrites the prompt once there is an answer. */
export function templateFault(origin: string): LineFault {
  return new LineFault(
    `Cannot apply the chat template to ${origin}: a conversation must start with its prompt and the start of the answer, got another text; take a template that adds messages at the end only`,
    { reason: 'chat-template', origin },
  );
}

export function emptyFault(part: 'prompt' | 'completion', origin: string): LineFault {
  return new LineFault(`Cannot read ${origin}: its ${part} must have text, got none`, {
    reason: `empty-${part}`,
    origin,
  });
}

function noChat(origin: string): LineFault {
  return new LineFault(
    `Cannot give ${origin} a system prompt: it must be a chat, got plain text; set chat, or leave out systemPrompt`,
    { reason: 'wrong-type', origin },
  );
}

import type { ChatMessage, Tokenizer } from '../base-setup/tokenizer/index.ts';
import { LineFault } from './line-fault.ts';

/** One side's words: plain text, or messages for the chat template. */
export type Turn = string | readonly ChatMessage[];

/** A list of a column as messages. */
export function checkMessages(
  list: readonly unknown[],
  { origin, column }: { readonly origin: string; readonly column: string },
): readonly ChatMessage[] {
  for (const [i, message] of list.entries()) {
    if (typeof (message as Partial<ChatMessage> | null)?.role === 'string') continue;
    throw new LineFault(
      `Cannot read ${origin}: message ${i + 1} of "${column}" must be an object with a role, got none`,
      { reason: 'wrong-type', origin },
    );
  }
  return list as readonly ChatMessage[];
}

export interface RenderChatOptions {
  readonly tokenizer: Tokenizer;
  /** Goes before messages that have no system message of their own. */
  readonly systemPrompt?: string | undefined;
  readonly origin: string;
  /** Ends with the start of the assistant's answer. */
  readonly addGenerationPrompt: boolean;
}

/** A conversation as the model was trained to see it. */
export function renderChat(messages: readonly ChatMessage[], options: RenderChatOptions): string {
  const { tokenizer, systemPrompt: content, origin, addGenerationPrompt } = options;
  const hasSystem = content === undefined || messages[0]?.role === 'system';
  const chat = hasSystem ? messages : [{ role: 'system', content }, ...messages];
  try {
    return tokenizer.applyChatTemplate(chat, { addGenerationPrompt });
  } catch (cause) {
    const reason = (cause as Error).message.replace(/^Cannot apply the chat template: /, '');
    throw new LineFault(`Cannot apply the chat template to ${origin}: ${reason}`, {
      reason: 'chat-template',
      origin,
      cause,
    });
  }
}

/** A turn as messages; plain text is a message of its own.
 *  @example 'Hi', 'user'  →  [{ role: 'user', content: 'Hi' }] */
export function toMessages(turn: Turn, role: 'user' | 'assistant'): readonly ChatMessage[] {
  return typeof turn === 'string' ? [{ role, content: turn }] : turn;
}

/** Whether a turn says nothing. */
export function isBlank(turn: Turn): boolean {
  if (typeof turn === 'string') return turn.trim() === '';
  return turn.every(({ content, tool_calls }) => {
    const isText = typeof content === 'string' && content.trim() !== '';
    return !isText && !(Array.isArray(content) && content.length > 0) && tool_calls == null;
  });
}

import type { ChatMessage, Tokenizer } from '../base-setup/tokenizer/index.ts';
import { defaultPromptColumns, type ResolvedPromptOptions } from '../config/data-config.ts';
import { type DataRow, kindOf, listColumns } from './data-row.ts';
import { checkMessages, fillTemplate, renderChat, withSystemPrompt } from './row-columns.ts';

/** A prompt as the model sees it. */
export interface FormattedPrompt {
  readonly text: string;
  /** Whether the chat template was applied, which adds special tokens itself. */
  readonly isChat: boolean;
  /** The conversation, if it is a chat. */
  readonly messages?: readonly ChatMessage[];
}

type FormatOptions = Pick<
  ResolvedPromptOptions,
  'promptColumn' | 'template' | 'chat' | 'systemPrompt' | 'chatTemplateKwargs'
> & { readonly tokenizer: Tokenizer; readonly tools?: readonly object[] | undefined };

/** Turns rows into prompts: the text of a column or a template, or a conversation. Assistant messages
 *  at the end of a conversation are dropped, because the policy will write them. */
export class PromptFormatter {
  private readonly options: FormatOptions;
  /** Chosen by the first row, so all prompts come from the same column. */
  private column: string | undefined;

  constructor(options: FormatOptions) {
    this.options = options;
    this.column = options.promptColumn;
  }

  format(row: DataRow): FormattedPrompt {
    const { template, chat, systemPrompt } = this.options;
    const value = template === undefined ? this.readColumn(row) : fillTemplate(template, row);
    // An empty prompt stays empty, even with a chat template.
    if (typeof value === 'string' && (!chat || value.trim() === '')) {
      if (chat || systemPrompt === undefined) return { text: value, isChat: false };
      throw new TypeError(
        `Cannot add a system prompt to ${row.origin}: it must be a chat, got plain text; set chat, or remove systemPrompt`,
      );
    }
    const messages = typeof value === 'string' ? [{ role: 'user', content: value }] : value;
    const { origin } = row;
    const chatMessages = withSystemPrompt(messages, systemPrompt);
    const text = renderChat(chatMessages, { ...this.options, origin, addGenerationPrompt: true });
    return { text, isChat: true, messages: chatMessages };
  }

  private readColumn(row: DataRow): string | readonly ChatMessage[] {
    const { columns, origin } = row;
    this.column ??= defaultPromptColumns.find((name) => columns[name] !== undefined);
    if (this.column === undefined) throw missingColumn(row, defaultPromptColumns.join(', '));
    const value = columns[this.column];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return readMessages(value, { origin, column: this.column });
    if (value === undefined) throw missingColumn(row, `"${this.column}"`);
    throw new TypeError(
      `Cannot read ${origin}: "${this.column}" must be a string or a list of messages, got ${kindOf(value)}`,
    );
  }
}

function readMessages(
  list: readonly unknown[],
  { origin, column }: { origin: string; column: string },
): readonly ChatMessage[] {
  const messages = checkMessages(list, { origin, column });
  const last = messages.findLastIndex(({ role }) => role !== 'assistant');
  if (last >= 0) return messages.slice(0, last + 1);
  const got = messages.length === 0 ? 'none' : 'only assistant messages';
  throw new TypeError(
    `Cannot read ${origin}: "${column}" must have a message to answer, got ${got}`,
  );
}

function missingColumn(row: DataRow, expected: string): TypeError {
  return new TypeError(
    `Cannot find a prompt in ${row.origin}: it must have a column ${expected}, got ${listColumns(row)}; set promptColumn or template`,
  );
}

/** The largest number of tokens in a prompt. */
export interface PromptLimit {
  readonly maxTokens: number;
  /** The reason, for brackets after the number. */
  readonly reason: string;
  /** How to allow more. */
  readonly remedy: string;
}

export interface PromptLimitOptions {
  readonly maxPromptTokens?: number | undefined;
  /** Longest text of the model, in tokens; no limit by default. */
  readonly contextLength?: number | undefined;
  /** Most tokens of a response; 0 by default. */
  readonly maxNewTokens?: number | undefined;
}

/** The smaller of maxPromptTokens and contextLength − maxNewTokens.
 *  @example { maxPromptTokens: 512, contextLength: 256, maxNewTokens: 50 }  →  206 tokens */
export function promptLimit(options: PromptLimitOptions): PromptLimit {
  const { maxPromptTokens = Infinity, contextLength = Infinity, maxNewTokens = 0 } = options;
  const room = contextLength - maxNewTokens;
  if (room < 1) {
    throw new RangeError(
      `Cannot use prompts: maxNewTokens must be below the model's context of ${contextLength} tokens, got ${maxNewTokens}`,
    );
  }
  if (maxPromptTokens <= room) {
    return { maxTokens: maxPromptTokens, reason: 'maxPromptTokens', remedy: 'raise it' };
  }
  return {
    maxTokens: room,
    reason: `the model's context of ${contextLength} minus ${maxNewTokens} for maxNewTokens`,
    remedy: 'lower maxNewTokens',
  };
}

/** Keeps the last tokens of a prompt that is too long, and a BOS token at its start if another token
 *  fits. The text is that of the kept tokens, so rewards see what the policy sees.
 *  @example [bos, 7, 8, 9], at most 3  →  [bos, 8, 9] */
export function truncateLeft(
  { tokens, isChat }: Pick<FormattedPrompt, 'isChat'> & { readonly tokens: Int32Array },
  { tokenizer, maxTokens }: { tokenizer: Tokenizer; maxTokens: number },
): { readonly text: string; readonly tokens: Int32Array } {
  const hasBos = tokenizer.bosId !== undefined && tokens[0] === tokenizer.bosId;
  const bos = tokens.subarray(0, hasBos && maxTokens > 1 ? 1 : 0);
  const start = tokens.length - (maxTokens - bos.length);
  const last = tokens.subarray(start);
  const text = tokenizer.decode(last, { after: tokens.subarray(0, start) });
  // The text of a chat contains its special tokens; encoding adds them to other texts.
  const head = isChat ? tokenizer.decode(bos) : '';
  return { text: head + text, tokens: Int32Array.from([...bos, ...last]) };
}

import type { ChatMessage, Tokenizer } from '../base-setup/tokenizer/index.ts';
import {
  defaultPromptColumns,
  type ResolvedPromptOptions,
  templatePlaceholder,
} from '../config/data-config.ts';
import { type DataRow, kindOf, listColumns } from './data-row.ts';
import { checkMessages, renderChat } from './line-chat.ts';
import { LineFault } from './line-fault.ts';

/** A prompt as the model will see it. */
export interface FormattedPrompt {
  readonly text: string;
  /** Whether the chat template made it, which writes special tokens itself. */
  readonly isChat: boolean;
}

type FormatOptions = Pick<
  ResolvedPromptOptions,
  'promptColumn' | 'template' | 'chat' | 'systemPrompt'
> & { readonly tokenizer: Tokenizer };

/** Makes prompts of rows: the text of a column or of a template, or a conversation. Messages of the
 *  assistant at the end of a conversation are left out, as the policy will write them. */
export class PromptFormatter {
  private readonly options: FormatOptions;
  /** Chosen by the first row, so that all prompts come from the same. */
  private column: string | undefined;

  constructor(options: FormatOptions) {
    this.options = options;
    this.column = options.promptColumn;
  }

  format(row: DataRow): FormattedPrompt {
    const { template, chat, systemPrompt } = this.options;
    const value = template === undefined ? this.readColumn(row) : fillTemplate(template, row);
    // An empty prompt stays empty, whatever a chat would put around it.
    if (typeof value === 'string' && (!chat || value.trim() === '')) {
      if (chat || systemPrompt === undefined) return { text: value, isChat: false };
      throw new TypeError(
        `Cannot give ${row.origin} a system prompt: it must be a chat, got plain text; set chat, or leave out systemPrompt`,
      );
    }
    const messages = typeof value === 'string' ? [{ role: 'user', content: value }] : value;
    const { origin } = row;
    const text = renderChat(messages, { ...this.options, origin, addGenerationPrompt: true });
    return { text, isChat: true };
  }

  private readColumn(row: DataRow): string | readonly ChatMessage[] {
    const { columns, origin } = row;
    this.column ??= defaultPromptColumns.find((name) => columns[name] !== undefined);
    if (this.column === undefined) throw noColumn(row, defaultPromptColumns.join(', '));
    const value = columns[this.column];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return readMessages(value, { origin, column: this.column });
    if (value === undefined) throw noColumn(row, `"${this.column}"`);
    throw new TypeError(
      `Cannot read ${origin}: "${this.column}" must be a string or a list of messages, got ${kindOf(value)}`,
    );
  }
}

/** @example 'Q: {question}' and { question: '1 + 1?' }  →  'Q: 1 + 1?' */
export function fillTemplate(template: string, row: DataRow): string {
  const { columns, origin } = row;
  return template.replaceAll(templatePlaceholder, (place: string, column: string | undefined) => {
    if (column === undefined) return place.slice(1);
    const value = columns[column];
    if (['string', 'number', 'boolean'].includes(typeof value)) return String(value);
    if (value === undefined) {
      throw new LineFault(
        `Cannot fill the template from ${origin}: {${column}} must be one of its columns ${listColumns(row)}; write other braces as {{ and }}`,
        { reason: 'missing-column', origin },
      );
    }
    throw new LineFault(
      `Cannot fill the template from ${origin}: "${column}" must be text or a number, got ${kindOf(value)}`,
      { reason: 'wrong-type', origin },
    );
  });
}

function readMessages(
  list: readonly unknown[],
  { origin, column }: { origin: string; column: string },
): readonly ChatMessage[] {
  const messages = checkMessages(list, { origin, column });
  const last = messages.findLastIndex(({ role }) => role !== 'assistant');
  if (last >= 0) return messages.slice(0, last + 1);
  const got = messages.length === 0 ? 'none' : "the assistant's only";
  throw new TypeError(
    `Cannot read ${origin}: "${column}" must have a message to answer, got ${got}`,
  );
}

function noColumn(row: DataRow, wanted: string): TypeError {
  return new TypeError(
    `Cannot find a prompt in ${row.origin}: it must have a column ${wanted}, got ${listColumns(row)}; set promptColumn or template`,
  );
}

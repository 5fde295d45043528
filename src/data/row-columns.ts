import type { ChatMessage, Tokenizer } from '../base-setup/tokenizer/index.ts';
import { readChatTemplateKwargs, templatePlaceholder } from '../config/data-config.ts';
import { type BadRowReason, type DataRow, kindOf, listColumns, RowError } from './data-row.ts';

/** An error about a row, such as `Cannot read pairs.jsonl line 7: …`. */
export function rowError(
  { origin }: DataRow,
  { reason, problem }: { readonly reason: BadRowReason; readonly problem: string },
): RowError {
  return new RowError(`Cannot read ${origin}: ${problem}`, { reason, origin });
}

/** Whether a row has a value in a column; null, which Parquet uses for missing values, does not count. */
export function hasColumn({ columns }: DataRow, column: string): boolean {
  return columns[column] !== undefined && columns[column] !== null;
}

/** Throws an error that names the missing columns. */
export function expectColumns(row: DataRow, columns: readonly string[]): void {
  const missing = columns.filter((column) => !hasColumn(row, column));
  if (missing.length === 0) return;
  const names = missing.map((column) => `"${column}"`).join(' and ');
  throw rowError(row, {
    reason: 'missing-column',
    problem: `it must have ${names}, got ${listColumns(row)}`,
  });
}

/** A column's text or messages. */
export function readTurn(row: DataRow, column: string): Turn {
  expectColumns(row, [column]);
  return toTurn(row.columns[column], { row, column });
}

/** A column's list of texts or messages. */
export function readTurns(row: DataRow, column: string): readonly Turn[] {
  const value = row.columns[column];
  if (!Array.isArray(value)) {
    throw rowError(row, {
      reason: 'wrong-type',
      problem: `"${column}" must be a list, got ${kindOf(value)}`,
    });
  }
  return value.map((entry) => toTurn(entry, { row, column }));
}

/** Where the prompt of a row is. */
export interface PromptLocation {
  readonly promptColumn?: string | undefined;
  readonly template?: string | undefined;
}

export const defaultPromptColumn = 'prompt';

/** Whether a row has a prompt. */
export function hasPrompt(row: DataRow, { promptColumn, template }: PromptLocation): boolean {
  return template !== undefined || hasColumn(row, promptColumn ?? defaultPromptColumn);
}

/** The prompt of a row: its column, or a template filled from other columns. */
export function readPrompt(row: DataRow, { promptColumn, template }: PromptLocation): Turn {
  return template === undefined
    ? readTurn(row, promptColumn ?? defaultPromptColumn)
    : fillTemplate(template, row);
}

/** Fills a template with the text of a row's columns.
 *  @example 'Q: {question}' and { question: '1 + 1?' }  →  'Q: 1 + 1?' */
export function fillTemplate(template: string, row: DataRow): string {
  const { columns, origin } = row;
  return template.replaceAll(templatePlaceholder, (place: string, column: string | undefined) => {
    if (column === undefined) return place.slice(1);
    const value = columns[column];
    if (['string', 'number', 'boolean'].includes(typeof value)) return String(value);
    if (value === undefined) {
      throw new RowError(
        `Cannot fill the template from ${origin}: {${column}} must be one of its columns ${listColumns(row)}; write literal braces as {{ and }}`,
        { reason: 'missing-column', origin },
      );
    }
    throw new RowError(
      `Cannot fill the template from ${origin}: "${column}" must be text or a number, got ${kindOf(value)}`,
      { reason: 'wrong-type', origin },
    );
  });
}

/** A column's number, which may be text as in CSV; undefined if missing.
 *  @example { margin: '0.5' }, 'margin'  →  0.5 */
export function readNumber(row: DataRow, column: string): number | undefined {
  if (!hasColumn(row, column)) return undefined;
  const value = row.columns[column];
  if (value === '') return undefined;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  const got = typeof value === 'string' ? JSON.stringify(value) : kindOf(value);
  throw rowError(row, {
    reason: 'wrong-type',
    problem: `"${column}" must be a number, got ${got}`,
  });
}

/** Checks that all rows of a source have the layout of the first. */
export class LayoutGuard {
  private first: { readonly layout: string; readonly origin: string } | undefined;

  /** @param layout what the row contains, such as `pairs of texts` */
  expect(layout: string, row: DataRow): void {
    this.first ??= { layout, origin: row.origin };
    if (this.first.layout === layout) return;
    throw rowError(row, {
      reason: 'mixed-formats',
      problem: `it must contain ${this.first.layout} like ${this.first.origin}, got ${layout}; put different rows into separate files`,
    });
  }
}

function toTurn(
  value: unknown,
  { row, column }: { readonly row: DataRow; readonly column: string },
): Turn {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return checkMessages(value, { origin: row.origin, column });
  throw rowError(row, {
    reason: 'wrong-type',
    problem: `"${column}" must be text or a list of messages, got ${kindOf(value)}`,
  });
}

/** One side of a conversation: plain text, or messages for the chat template. */
export type Turn = string | readonly ChatMessage[];

/** Checks that a list consists of messages. */
export function checkMessages(
  list: readonly unknown[],
  { origin, column }: { readonly origin: string; readonly column: string },
): readonly ChatMessage[] {
  for (const [i, message] of list.entries()) {
    if (typeof (message as Partial<ChatMessage> | null)?.role === 'string') continue;
    throw new RowError(
      `Cannot read ${origin}: message ${i + 1} of "${column}" must be an object with a role, got none`,
      { reason: 'wrong-type', origin },
    );
  }
  return list as readonly ChatMessage[];
}

export interface RenderChatOptions {
  readonly tokenizer: Tokenizer;
  /** Added to conversations without a system message. */
  readonly systemPrompt?: string | undefined;
  /** Other variables of the template, as JSON. */
  readonly chatTemplateKwargs?: string | undefined;
  /** JSON schemas of functions that the template describes. */
  readonly tools?: readonly object[] | undefined;
  readonly origin: string;
  /** Append the start of the assistant's answer. */
  readonly addGenerationPrompt: boolean;
}

/** Renders a conversation with the model's chat template. */
export function renderChat(messages: readonly ChatMessage[], options: RenderChatOptions): string {
  const { tokenizer, systemPrompt, origin, addGenerationPrompt } = options;
  const { chatTemplateKwargs, tools } = options;
  const variables = chatTemplateKwargs && readChatTemplateKwargs(chatTemplateKwargs);
  try {
    return tokenizer.applyChatTemplate(withSystemPrompt(messages, systemPrompt), {
      addGenerationPrompt,
      ...(variables && { variables }),
      ...(tools && { tools }),
    });
  } catch (cause) {
    const reason = (cause as Error).message.replace(/^Cannot apply the chat template: /, '');
    throw new RowError(`Cannot apply the chat template to ${origin}: ${reason}`, {
      reason: 'chat-template',
      origin,
      cause,
    });
  }
}

/** Adds a system message to a conversation without one. */
export function withSystemPrompt(
  messages: readonly ChatMessage[],
  content: string | undefined,
): readonly ChatMessage[] {
  if (content === undefined || messages[0]?.role === 'system') return messages;
  return [{ role: 'system', content }, ...messages];
}

/** A turn as messages; plain text becomes one message.
 *  @example 'Hi', 'user'  →  [{ role: 'user', content: 'Hi' }] */
export function toMessages(turn: Turn, role: 'user' | 'assistant'): readonly ChatMessage[] {
  return typeof turn === 'string' ? [{ role, content: turn }] : turn;
}

/** Whether a turn has no content. */
export function isBlank(turn: Turn): boolean {
  if (typeof turn === 'string') return turn.trim() === '';
  return turn.every(({ content, tool_calls }) => {
    const isText = typeof content === 'string' && content.trim() !== '';
    return !isText && !(Array.isArray(content) && content.length > 0) && tool_calls == null;
  });
}

import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import {
  type CompletionOptions,
  type ResolvedCompletionOptions,
  resolveCompletionOptions,
} from '../config/completion-config.ts';
import { emptyError, expectEos } from './completion-render.ts';
import {
  encodeSegments,
  type SegmentedRow,
  segmentChat,
  segmentCompletion,
} from './completion-segments.ts';
import { type DataRow, listColumns } from './data-row.ts';
import type { RowSource } from './read-rows.ts';
import {
  defaultPromptColumn,
  hasColumn,
  hasPrompt,
  isBlank,
  LayoutGuard,
  readPrompt,
  readTurn,
  rowError,
} from './row-columns.ts';
import { type LoadRowsContext, loadRows, type RowReport } from './row-dataset.ts';

/** A text to train on. */
export interface CompletionRecord {
  readonly text: string;
  /** The text before the first trained token; empty if everything is trained. */
  readonly promptText: string;
  readonly tokens: Int32Array;
  /** [tokens] 1 for each trained token; never the first, which has no context. */
  readonly lossMask: Uint8Array;
  /** Whether tokens were truncated to fit maxTokens. */
  readonly isTruncated: boolean;
  /** Position of the row, such as `texts.jsonl line 7`. */
  readonly origin: string;
}

export interface CompletionReport extends RowReport {
  /** Rows that were truncated to fit maxTokens. */
  readonly truncated: number;
}

/** Texts for supervised fine-tuning, split into train and validation. */
export interface CompletionDataset {
  readonly train: readonly CompletionRecord[];
  readonly validation: readonly CompletionRecord[];
  readonly report: CompletionReport;
}

/** Columns, limits and split of a dataset for supervised fine-tuning. */
export interface LoadCompletionsOptions extends CompletionOptions, LoadRowsContext {}

/** Reads texts for supervised fine-tuning: conversations, prompts with completions, or plain texts.
 *  No prompt is on both sides of the split, and every unusable row is counted in the report. */
export async function loadCompletions(
  source: RowSource,
  tokenizer: Tokenizer,
  options: LoadCompletionsOptions = {},
): Promise<CompletionDataset> {
  const { seed = 0, contextLength = Infinity, hub = {}, ...fields } = options;
  const resolved = resolveCompletionOptions(fields);
  if (resolved.appendEos) expectEos(tokenizer);
  const maxTokens = Math.min(resolved.maxTokens ?? Infinity, contextLength);
  const { train, validation, report } = await loadRows(source, {
    ...resolved,
    seed,
    hub,
    openReader: () => {
      const layout = new LayoutGuard();
      return (row) => toRecord(row, { ...resolved, tokenizer, maxTokens, layout });
    },
    keyOf: ({ promptText, text }: CompletionRecord) => promptText || text,
  });
  const truncated = [...train, ...validation].filter(({ isTruncated }) => isTruncated).length;
  return { train, validation, report: { ...report, truncated } };
}

interface RecordOptions extends ResolvedCompletionOptions {
  readonly tokenizer: Tokenizer;
  readonly maxTokens: number;
  readonly layout: LayoutGuard;
}

function toRecord(row: DataRow, options: RecordOptions): CompletionRecord {
  const { tokenizer, appendEos, maxTokens, tooLong } = options;
  const { origin } = row;
  const { segments, isChat } = segmentRow(row, options);
  const encoded = encodeSegments(segments, { tokenizer, addSpecialTokens: !isChat, appendEos });
  const { length } = encoded.tokens;
  const tokens = encoded.tokens.slice(0, maxTokens);
  const lossMask = encoded.lossMask.slice(0, maxTokens);
  const isTruncated = length > maxTokens;
  if (isTruncated && (tooLong === 'drop' || !lossMask.includes(1))) {
    const part = tooLong === 'drop' ? 'the text' : 'the prompt and some of its completion';
    throw rowError(row, {
      reason: 'too-long',
      problem: `${part} must fit in ${maxTokens} tokens, got ${length}`,
    });
  }
  if (!lossMask.includes(1)) throw emptyError('completion', origin);
  const text = segments.map((segment) => segment.text).join('');
  const promptText = segments[0]!.isTrained ? '' : segments[0]!.text;
  return { text, promptText, tokens, lossMask, isTruncated, origin };
}

/** Prefers conversations, then prompts with completions, then texts. */
function segmentRow(row: DataRow, options: RecordOptions): SegmentedRow {
  const { messagesColumn, completionColumn, textColumn, layout, chat } = options;
  const { origin } = row;
  if (hasColumn(row, messagesColumn)) {
    layout.expect('conversations', row);
    return segmentMessages(row, options);
  }
  if (hasColumn(row, completionColumn) && hasPrompt(row, options)) {
    layout.expect('prompts with completions', row);
    const prompt = readPrompt(row, options);
    const completion = readTurn(row, completionColumn);
    return segmentCompletion({ prompt, completion }, { ...options, origin });
  }
  const { promptColumn = defaultPromptColumn } = options;
  if (!hasColumn(row, textColumn) || chat) {
    const text = chat ? '' : `, or "${textColumn}"`;
    throw rowError(row, {
      reason: 'missing-column',
      problem: `it must have "${messagesColumn}", or "${promptColumn}" and "${completionColumn}"${text}, got ${listColumns(row)}; set completionColumn and similar options`,
    });
  }
  layout.expect('texts', row);
  const text = readTurn(row, textColumn);
  if (typeof text !== 'string') {
    throw rowError(row, {
      reason: 'wrong-type',
      problem: `"${textColumn}" must be text, got a list; set messagesColumn to "${textColumn}"`,
    });
  }
  if (isBlank(text)) throw emptyError('completion', origin);
  return { segments: [{ text, isTrained: true }], isChat: false };
}

/** The functions that a conversation may call, from the column `tools`: a list, or JSON as text. */
function readRowTools(row: DataRow): readonly object[] | undefined {
  const { tools } = row.columns;
  if (tools === undefined || tools === null || tools === '') return undefined;
  const list = typeof tools === 'string' ? parseTools(tools) : tools;
  if (Array.isArray(list) && list.every((tool) => typeof tool === 'object' && tool !== null)) {
    return list.length === 0 ? undefined : list;
  }
  throw rowError(row, {
    reason: 'wrong-type',
    problem: `"tools" must be a list of JSON schemas of functions, got ${typeof tools}`,
  });
}

function parseTools(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function segmentMessages(row: DataRow, options: RecordOptions): SegmentedRow {
  const { messagesColumn } = options;
  const messages = readTurn(row, messagesColumn);
  if (typeof messages === 'string') {
    throw rowError(row, {
      reason: 'wrong-type',
      problem: `"${messagesColumn}" must be a list of messages, got text; set textColumn to "${messagesColumn}"`,
    });
  }
  if (messages.some(({ role }) => role === 'assistant')) {
    return segmentChat(messages, { ...options, origin: row.origin, tools: readRowTools(row) });
  }
  throw rowError(row, {
    reason: 'empty-completion',
    problem: `"${messagesColumn}" must have an assistant message to train on, got none`,
  });
}

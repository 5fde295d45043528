import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import {
  type CompletionOptions,
  type ResolvedCompletionOptions,
  resolveCompletionOptions,
} from '../config/completion-config.ts';
import { emptyFault } from './completion-render.ts';
import {
  encodeSegments,
  type SegmentedRow,
  segmentChat,
  segmentCompletion,
} from './completion-segments.ts';
import { expectEos } from './completion-tokens.ts';
import { type DataRow, listColumns } from './data-row.ts';
import { isBlank } from './line-chat.ts';
import {
  hasColumn,
  hasPrompt,
  LayoutGuard,
  readPrompt,
  readTurn,
  rowFault,
  usualPromptColumn,
} from './line-columns.ts';
import { type LoadLinesContext, loadLines } from './line-dataset.ts';
import type { RowReport } from './line-report.ts';
import type { RowSource } from './read-rows.ts';

/** A text to learn from. */
export interface CompletionRecord {
  readonly text: string;
  /** What comes before the first word that is trained; empty if all is. */
  readonly promptText: string;
  readonly tokens: Int32Array;
  /** [tokens] 1 where a token is trained; never the first, as nothing comes before it. */
  readonly lossMask: Uint8Array;
  /** Whether tokens were cut off to fit maxTokens. */
  readonly isTruncated: boolean;
  /** Where the row stands: `texts.jsonl line 7`. */
  readonly origin: string;
}

export interface CompletionReport extends RowReport {
  /** Kept rows that were cut to fit maxTokens. */
  readonly truncated: number;
}

export interface CompletionDataset {
  readonly train: readonly CompletionRecord[];
  readonly validation: readonly CompletionRecord[];
  readonly report: CompletionReport;
}

export interface LoadCompletionsOptions extends CompletionOptions, LoadLinesContext {}

/** Reads texts for supervised fine-tuning: conversations, prompts with completions, or plain texts.
 *  No prompt is on both sides of the split, and every row that cannot be used is counted in the
 *  report. */
export async function loadCompletions(
  source: RowSource,
  tokenizer: Tokenizer,
  options: LoadCompletionsOptions = {},
): Promise<CompletionDataset> {
  const { seed = 0, contextLength = Infinity, hub = {}, ...given } = options;
  const resolved = resolveCompletionOptions(given);
  if (resolved.appendEos) expectEos(tokenizer);
  const maxTokens = Math.min(resolved.maxTokens ?? Infinity, contextLength);
  const { train, validation, report } = await loadLines(source, {
    ...resolved,
    seed,
    hub,
    openReader: () => {
      const layout = new LayoutGuard();
      return (row) => makeRecord(row, { ...resolved, tokenizer, maxTokens, layout });
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

function makeRecord(row: DataRow, options: RecordOptions): CompletionRecord {
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
    throw rowFault(row, {
      reason: 'too-long',
      fault: `${part} must fit in ${maxTokens} tokens, got ${length}`,
    });
  }
  if (!lossMask.includes(1)) throw emptyFault('completion', origin);
  const text = segments.map((segment) => segment.text).join('');
  const promptText = segments[0]!.isTrained ? '' : segments[0]!.text;
  return { text, promptText, tokens, lossMask, isTruncated, origin };
}

/** Conversations go first, then prompts with completions, then texts. */
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
  const { promptColumn = usualPromptColumn } = options;
  if (!hasColumn(row, textColumn) || chat) {
    const text = chat ? '' : `, or "${textColumn}"`;
    throw rowFault(row, {
      reason: 'missing-column',
      fault: `it must have "${messagesColumn}", or "${promptColumn}" and "${completionColumn}"${text}, got ${listColumns(row)}; name them by completionColumn and the like`,
    });
  }
  layout.expect('texts', row);
  const text = readTurn(row, textColumn);
  if (typeof text !== 'string') {
    throw rowFault(row, {
      reason: 'wrong-type',
      fault: `"${textColumn}" must be text, got a list; set messagesColumn to "${textColumn}"`,
    });
  }
  if (isBlank(text)) throw emptyFault('completion', origin);
  return { segments: [{ text, isTrained: true }], isChat: false };
}

function segmentMessages(row: DataRow, options: RecordOptions): SegmentedRow {
  const { messagesColumn } = options;
  const messages = readTurn(row, messagesColumn);
  if (typeof messages === 'string') {
    throw rowFault(row, {
      reason: 'wrong-type',
      fault: `"${messagesColumn}" must be a list of messages, got text; set textColumn to "${messagesColumn}"`,
    });
  }
  if (messages.some(({ role }) => role === 'assistant')) {
    return segmentChat(messages, { ...options, origin: row.origin });
  }
  throw rowFault(row, {
    reason: 'empty-completion',
    fault: `"${messagesColumn}" must have a message of the assistant to learn, got none`,
  });
}

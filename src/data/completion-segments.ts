import type { ChatMessage, Tokenizer } from '../base-setup/tokenizer/index.ts';
import {
  encodeAfter,
  endWithEos,
  joinTokens,
  type RenderRowOptions,
  renderRow,
  templateError,
} from './completion-render.ts';
import { RowError } from './data-row.ts';
import { renderChat, type Turn } from './row-columns.ts';

/** A part of a text, and whether it is trained. */
export interface Segment {
  readonly text: string;
  readonly isTrained: boolean;
}

/** The parts of a row, which concatenate to its text. */
export interface SegmentedRow {
  readonly segments: readonly Segment[];
  /** Whether the chat template was applied, which adds special tokens itself. */
  readonly isChat: boolean;
}

/** A prompt, which is not trained, and a completion, which is. */
export function segmentCompletion(
  { prompt, completion }: { readonly prompt: Turn; readonly completion: Turn },
  options: RenderRowOptions,
): SegmentedRow {
  const rendered = renderRow({ prompt, completions: [completion] }, options);
  const { promptText, completionTexts, isChat } = rendered;
  const segments = [
    { text: promptText, isTrained: false },
    { text: completionTexts[0]!, isTrained: true },
  ];
  return { segments, isChat };
}

/** A conversation in which the assistant's turns are trained, each with the template's end of turn.
 *  Everything after the last of them is dropped.
 *  @example Qwen: `user\nHi<|im_end|>\n<|im_start|>assistant\n` is context, `Hello<|im_end|>` is trained */
export function segmentChat(
  messages: readonly ChatMessage[],
  options: Omit<RenderRowOptions, 'chat'>,
): SegmentedRow {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const turns = messages.slice(0, last + 1);
  const whole = renderChat(turns, { ...options, addGenerationPrompt: false });
  const spans = turns.flatMap(({ role }, i) =>
    role === 'assistant' ? [findTurn(turns, { ...options, i, whole })] : [],
  );
  const turnEnd = whole.slice(spans.at(-1)!.end).trimEnd();
  const segments: Segment[] = [];
  let at = 0;
  for (const { start, end: textEnd } of spans) {
    const end = whole.startsWith(turnEnd, textEnd) ? textEnd + turnEnd.length : textEnd;
    segments.push({ text: whole.slice(at, start), isTrained: false });
    segments.push({ text: whole.slice(start, end), isTrained: true });
    at = end;
  }
  return { segments, isChat: true };
}

interface TurnOptions extends Omit<RenderRowOptions, 'chat'> {
  readonly i: number;
  /** The rendered turns. */
  readonly whole: string;
}

/** The position of turn i in the rendered conversation. Its end is found by rendering again with a
 *  different text, because a short text may also occur in the template. */
function findTurn(
  turns: readonly ChatMessage[],
  { i, whole, ...options }: TurnOptions,
): { start: number; end: number } {
  const { origin } = options;
  const { content, tool_calls } = turns[i]!;
  if (typeof content !== 'string' || content.trim() === '' || tool_calls != null) {
    const got = tool_calls == null ? 'one without text' : 'one with tool calls';
    const problem = `each assistant turn must be text, got ${got}`;
    const reason = tool_calls == null ? 'empty-completion' : 'wrong-type';
    throw new RowError(`Cannot read ${origin}: ${problem}`, { reason, origin });
  }
  const before = turns.slice(0, i);
  const context = i === 0 ? '' : renderChat(before, { ...options, addGenerationPrompt: true });
  const other = unusedText(whole);
  const changed = renderChat(turns.with(i, { ...turns[i]!, content: other }), {
    ...options,
    addGenerationPrompt: false,
  });
  const rest = changed.slice(changed.indexOf(other) + other.length);
  if (!whole.startsWith(context) || !whole.endsWith(rest)) throw templateError(origin);
  return { start: context.length, end: whole.length - rest.length };
}

/** @example 'a xx b'  →  'xxx' */
function unusedText(text: string): string {
  let unused = 'x';
  while (text.includes(unused)) unused += 'x';
  return unused;
}

/** The tokens of a text, and which of them are trained. */
export interface SegmentTokens {
  readonly tokens: Int32Array;
  /** 1 for each trained token; never the first, which has no context. */
  readonly lossMask: Uint8Array;
}

export interface EncodeSegmentsOptions {
  readonly tokenizer: Tokenizer;
  /** Whether the tokenizer adds special tokens around a plain text. */
  readonly addSpecialTokens: boolean;
  readonly appendEos: boolean;
}

/** Encodes segments so that no token spans two of them.
 *  @example [a cat] as context and [sees a dog] trained, then EOS
 *    →  tokens [4 5 7 4 6 1], mask [0 0 1 1 1 1] */
export function encodeSegments(
  segments: readonly Segment[],
  { tokenizer, addSpecialTokens, appendEos }: EncodeSegmentsOptions,
): SegmentTokens {
  let before = '';
  const parts = segments.map(({ text }, i) => {
    const part =
      i === 0
        ? tokenizer.encode(text, { addSpecialTokens })
        : encodeAfter(before, text, { tokenizer });
    before += text;
    return appendEos && i === segments.length - 1 ? endWithEos(part, tokenizer) : part;
  });
  const tokens = joinTokens(parts);
  const lossMask = new Uint8Array(tokens.length);
  let at = 0;
  for (const [i, { length }] of parts.entries()) {
    if (segments[i]!.isTrained) lossMask.fill(1, at, at + length);
    at += length;
  }
  lossMask[0] = 0;
  return { tokens, lossMask };
}

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

/** A conversation in which the assistant's turns are trained, tool calls included, each with the
 *  template's end of turn. Results of tools are context. Everything after the last turn is dropped.
 *  @example Qwen: `user\nHi<|im_end|>\n<|im_start|>assistant\n` is context, `Hello<|im_end|>` is trained */
export function segmentChat(
  messages: readonly ChatMessage[],
  options: Omit<RenderRowOptions, 'chat'>,
): SegmentedRow {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const turns = messages.slice(0, last + 1);
  const whole = renderChat(turns, { ...options, addGenerationPrompt: false });
  const turnEnd = findTurnEnd(turns, options);
  const spans = turns.flatMap(({ role }, i) =>
    role === 'assistant' ? [findTurn(turns, { ...options, i, whole, turnEnd })] : [],
  );
  const segments: Segment[] = [];
  let at = 0;
  for (const { start, end } of spans) {
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
  /** What the template writes after the text of a turn. */
  readonly turnEnd: string;
}

/** What the template writes after the last turn, if it is text. */
function findTurnEnd(
  turns: readonly ChatMessage[],
  options: Omit<RenderRowOptions, 'chat'>,
): string {
  const whole = renderChat(turns, { ...options, addGenerationPrompt: false });
  const other = unusedText(whole);
  const texts = turns.with(-1, { role: 'assistant', content: other });
  const changed = renderChat(texts, { ...options, addGenerationPrompt: false });
  return changed.slice(changed.indexOf(other) + other.length).trimEnd();
}

/** The position of turn i in the rendered conversation. Its end is found by rendering again with a
 *  different text or different calls, because a short text may also occur in the template. */
function findTurn(
  turns: readonly ChatMessage[],
  { i, whole, turnEnd, ...options }: TurnOptions,
): { start: number; end: number } {
  const { origin } = options;
  const turn = turns[i]!;
  const calls = readToolCalls(turn, origin);
  const before = turns.slice(0, i);
  const context = i === 0 ? '' : renderChat(before, { ...options, addGenerationPrompt: true });
  if (!whole.startsWith(context)) throw templateError(origin);
  const other = unusedText(whole);
  const changedTurn = calls
    ? { ...turn, tool_calls: calls.map((call) => replaceCall(call, other)) }
    : { ...turn, content: other };
  const changed = renderChat(turns.with(i, changedTurn), {
    ...options,
    addGenerationPrompt: false,
  });
  if (!calls) {
    const rest = changed.slice(changed.indexOf(other) + other.length);
    if (!whole.endsWith(rest)) throw templateError(origin);
    const textEnd = whole.length - rest.length;
    const isAtEnd = whole.startsWith(turnEnd, textEnd);
    return { start: context.length, end: textEnd + (isAtEnd ? turnEnd.length : 0) };
  }
  // What both have in common at their ends starts inside the last call, which the template then closes.
  const found = turnEnd === '' ? -1 : whole.indexOf(turnEnd, differenceEnd(whole, changed));
  if (found < 0) throw templateError(origin);
  return { start: context.length, end: found + turnEnd.length };
}

/** Where the common end of two texts starts in the first.
 *  @example 'ab]c', 'x]c'  →  2 */
function differenceEnd(text: string, other: string): number {
  let common = 0;
  const most = Math.min(text.length, other.length);
  while (common < most && text.at(-1 - common) === other.at(-1 - common)) common++;
  return text.length - common;
}

/** A tool call as OpenAI and Hugging Face write it; some data has only its function. */
interface ToolCall {
  readonly function?: { readonly name: string; readonly arguments?: unknown };
  readonly name?: string;
  readonly arguments?: unknown;
}

/** The tool calls of a turn; undefined if it is text. */
function readToolCalls(
  { content, tool_calls }: ChatMessage,
  origin: string,
): readonly ToolCall[] | undefined {
  if (Array.isArray(tool_calls) && tool_calls.length > 0) return tool_calls as ToolCall[];
  if (typeof content === 'string' && content.trim() !== '') return undefined;
  throw new RowError(
    `Cannot read ${origin}: each assistant turn must have text or tool calls, got one without either`,
    { reason: 'empty-completion', origin },
  );
}

/** The same call with another argument, in the form of the original: an object, or JSON as text. */
function replaceCall(call: ToolCall, text: string): ToolCall {
  const replace = (before: unknown) =>
    typeof before === 'string' ? JSON.stringify({ x: text }) : { x: text };
  return call.function === undefined
    ? { ...call, arguments: replace(call.arguments) }
    : { ...call, function: { ...call.function, arguments: replace(call.function.arguments) } };
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
